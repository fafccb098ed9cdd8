import { MemoryStore } from '../../../src/store/memory.ts';
import { sessionStoreSuite } from '../../suites/session-store.ts';

sessionStoreSuite('the memory store', () => new MemoryStore());
