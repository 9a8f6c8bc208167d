/**
 * Records the cases of the sample model agents against a scripted model: `npm run samples`. Necessary after a change of
 * their documents, or of the requests that the engine sends.
 */
import { fileURLToPath } from 'node:url'
import { runCommand } from '../support/processes/processes.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { respondToSample } from './sample-model.ts'

const CLI = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))
const MODEL_SAMPLES = ['agents/summarize-text', 'agents/triage-ticket', 'examples/agents/faithful']

const model = await startScriptedModel()
model.script('scripted', (request) => respondToSample(request))
try {
  const environment = {
    ...(model.environmentFor('openai-compatible') as Record<string, string>),
    DEFAULT_MODEL: model.modelFor('openai-compatible', 'scripted'),
  }
  for (const folder of MODEL_SAMPLES)
    await runCommand(process.execPath, [CLI, 'test', folder, '--record'], environment)
  model.assertDone()
} finally {
  await model.stop()
}
