// The process of an attacker: its orders come as a message, and what it has done goes out as messages.
import { attack, type Deeds, type Orders } from './attacker.ts';

const orders = await new Promise<Orders>((resolve) => process.once('message', resolve));
const report = (deeds: Deeds): void => void process.send?.(deeds);
report(await attack(orders, report));
process.disconnect();
