// The process of an attacker: is told what to do, and tells what it has done.
import { attack, type Deeds, type Orders } from './attacker.ts';

const orders = await new Promise<Orders>((resolve) => process.once('message', resolve));
const tell = (deeds: Deeds): void => void process.send?.(deeds);
tell(await attack(orders, tell));
process.disconnect();
