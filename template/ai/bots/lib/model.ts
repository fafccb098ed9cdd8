// The model of the assistant. Without settings it is the fake one of `npm run models`; MODEL_URL, MODEL_NAME and MODEL_KEY lead to a service.
import { chatModel } from 'parley-voice/ai';

const { MODEL_URL = 'http://127.0.0.1:8089/v1', MODEL_NAME = 'fake', MODEL_KEY } = process.env;

export const isReal = process.env['MODEL_URL'] !== undefined;
export const model = chatModel({ url: MODEL_URL, model: MODEL_NAME, ...(MODEL_KEY !== undefined && { key: MODEL_KEY }) });
