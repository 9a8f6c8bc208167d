import { afterAll } from 'vitest'
import { newCli } from '../cli/cli.ts'
import { startToolServer } from '../support/engine/model-agent.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../support/scripted-model/turn.ts'

export const modelAgent = (tools: object[] = [], instructions = 'Answer the question.') =>
  `---\n${JSON.stringify({
    title: 'Asks',
    input: { question: { type: 'string' } },
    output: { answer: { type: 'string' } },
    tools,
  })}\n---\n${instructions}\n`

export const CASES =
  '- { name: asks, input: { question: Why? }, expect: { pointers: { /answer: Because. } } }\n'

export const OFFLINE = { DEFAULT_MODEL: '', OPENAI_COMPATIBLE_BASE_URL: '', OPENAI_COMPATIBLE_API_KEY: '' }

/** For a test file: the CLI, with a scripted model and a server of tools, which stop at its end. */
export async function scriptedCases() {
  const cli = newCli()
  const model = await startScriptedModel()
  const server = await startToolServer((path, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ path, count: server.calls.length }))
  })
  afterAll(async () => {
    await model.stop()
    await server.stop()
    await cli.remove()
  })
  /** Environment of commands whose model follows the script. */
  function environmentOf(script: Script) {
    const name = `m${Math.random()}`
    model.script(name, script)
    return {
      ...(model.environmentFor('openai-compatible') as Record<string, string>),
      DEFAULT_MODEL: model.modelFor('openai-compatible', name),
      MODEL_PRICES: '{"openai-compatible/*": {"input": 1, "output": 2}}',
    }
  }
  return { cli, server, environmentOf }
}
