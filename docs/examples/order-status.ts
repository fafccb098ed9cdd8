// A handler that is a generator says at once what it yields, and answers with what it returns.
import { bot, go, say } from 'parley-voice';
import { orderState } from './lib/orders.ts';

const ask = say('Please enter the four digits of your order.').listen({ digits: 4 });

export default bot<null>({
  id: 'order-status',
  name: 'Order status',
  version: 1,

  session_start: () => go(null, ask),

  async *dtmf_input(state, { digits }, { signal, log }) {
    yield say('One moment, I am looking that up.');
    const found = await orderState(digits, signal);
    // Never log what was typed or said; what came of it is fine.
    log.info({ wasFound: found !== undefined }, 'an order was looked up');
    if (found === undefined) return go(state, say('I cannot find that order. Please try again.').listen({ digits: 4 }));
    return go(state, say(`Your order is ${found}. Goodbye.`).end('answered'));
  },

  otherwise: (state) => go(state, ask),
});
