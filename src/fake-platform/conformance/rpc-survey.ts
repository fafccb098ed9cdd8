// The calls that many checks look at, over RPCs. Judges nothing.
import { WireConnection } from './connection.ts';
import { ExchangeLog } from './exchange.ts';
import { isBroken, RpcCall, type TurnRecord } from './rpc-call.ts';
import type { Slots } from './slots.ts';
import { Survey, type RecordedCall, type SurveyLine } from './survey.ts';
import { authorizationOf, type Suspect } from './suspect.ts';

/** A call that was placed for several checks. */
export type CallRecord = RecordedCall<TurnRecord>;

const RPC_LINE: SurveyLine<TurnRecord, RpcCall, CallRecord> = {
  open: (suspect, agentId, log) => new RpcCall(connect(suspect), suspect, log, { organizationId: suspect.organizationId, agentId }),
  agentIds: async (suspect, opened) => {
    const connection = connect(suspect);
    opened(connection);
    const list = await connection.list(suspect.organizationId, suspect.timing.answerMs, new ExchangeLog(suspect.clock));
    connection.drop();
    return 'code' in list ? [] : (list.virtual_agents ?? []).map(({ virtual_agent_id: id = '' }) => id);
  },
  recorded: (_, record) => record,
};

/** The calls of one run, over RPCs. */
export class RpcSurvey extends Survey<TurnRecord, RpcCall, CallRecord> {
  constructor(suspect: Suspect, slots: Slots) {
    super(suspect, slots, RPC_LINE);
  }

  /** Where no turn after a welcome was taken at all, they are left out: that is one breach and not one of every rule (G-12). */
  override async calls(): Promise<readonly CallRecord[]> {
    const calls = await super.calls();
    return calls.flatMap(({ turns }) => turns.slice(1)).some(({ rpc }) => !isBroken(rpc))
      ? calls
      : calls.map((call) => ({ ...call, turns: call.turns.slice(0, 1) }));
  }
}

function connect(suspect: Suspect): WireConnection {
  return new WireConnection({ ...suspect, authorization: authorizationOf(suspect) });
}
