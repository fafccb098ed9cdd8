// The language model of the bundled assistants. Two settings of the environment lead to a real service; `parley models` is a fake one.
import { chatModel } from 'parley-voice/ai';

const { MODEL_URL = 'http://127.0.0.1:8089/v1', MODEL_NAME = 'fake', MODEL_KEY } = process.env;

export const model = chatModel({ url: MODEL_URL, model: MODEL_NAME, ...(MODEL_KEY !== undefined && { key: MODEL_KEY }) });
