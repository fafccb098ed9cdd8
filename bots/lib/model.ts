// The models of the bundled assistants. Settings of the environment lead to a real service; `parley models` has fake ones.
import { chatModel } from 'parley-voice/ai';

const { MODEL_URL = 'http://127.0.0.1:8089/v1', MODEL_NAME = 'fake', MODEL_KEY } = process.env;
const { REALTIME_URL = `${MODEL_URL.replace('http', 'ws')}/realtime`, REALTIME_NAME = 'fake' } = process.env;
const key = MODEL_KEY === undefined ? {} : { key: MODEL_KEY };

export const model = chatModel({ url: MODEL_URL, model: MODEL_NAME, ...key });
/** Speech to speech. */
export const realtimeModel = { url: REALTIME_URL, model: REALTIME_NAME, transcribe: 'whisper-1', ...key };
