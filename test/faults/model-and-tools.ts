import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RecordedRequest } from '../support/scripted-model/recorded-request.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import type { Answer } from '../support/scripted-model/turn.ts'
import { type ModelInput, toolValue } from './plan.ts'

const SCRIPT = 'adding-up'
/** Time for a kill to find a response, or a tool's result, on its way. */
const THINKING_MS = 80
const LOOKING_UP_MS = 80

export type ToolCallSeen = { marker: string; step: number; call: number; key: string }

/** The model that all model agents run on and the tool that they call: both remember what they were asked. */
export async function startModelAndTools() {
  const scripted = await startScriptedModel()
  /** Responses asked for, by `marker step`. */
  const asked = new Map<string, number>()
  const calls: ToolCallSeen[] = []

  // Answers by what it is shown, as a model does; the ids of its calls are new each time, as a model's are.
  scripted.script(SCRIPT, ({ history }) => {
    const { marker, steps, parallel } = inputOf(history)
    const made = history.flatMap((item) => (item.type === 'call' ? [Object(item.input).step as number] : []))
    const step = Math.max(0, ...made) + 1
    const name = `${marker} ${step}`
    asked.set(name, (asked.get(name) ?? 0) + 1)
    return { ...answerOf({ marker, steps, parallel }, step, history), delayMs: THINKING_MS }
  })

  const tools = createServer((request, response) => {
    const [, marker = '', step, call] = (request.url ?? '').split('/')
    const key = String(request.headers['idempotency-key'])
    calls.push({ marker, step: Number(step), call: Number(call), key })
    response.setHeader('Content-Type', 'application/json')
    const value = toolValue(Number(step), Number(call))
    setTimeout(() => response.end(JSON.stringify({ value })), LOOKING_UP_MS)
  })
  await new Promise<void>((resolve) => tools.listen(0, '127.0.0.1', resolve))

  return {
    asked,
    calls,
    environment: scripted.environmentFor('openai-compatible') as Record<string, string>,
    model: scripted.modelFor('openai-compatible', SCRIPT),
    toolHost: `127.0.0.1:${(tools.address() as AddressInfo).port}`,
    assertUnderstood: () => scripted.assertDone(SCRIPT),
    async stop() {
      tools.closeAllConnections()
      await Promise.all([scripted.stop(), new Promise((resolve) => tools.close(resolve))])
    },
  }
}

export type ModelAndTools = Awaited<ReturnType<typeof startModelAndTools>>

function inputOf(history: RecordedRequest['history']): ModelInput {
  const [first] = history
  if (first?.type !== 'text') throw new Error('The history does not begin with the input.')
  return JSON.parse(first.text) as ModelInput
}

function answerOf(
  { marker, steps, parallel }: ModelInput,
  step: number,
  history: RecordedRequest['history'],
): Answer {
  if (step < steps) {
    const calls = Array.from({ length: parallel }, (_, i) => ({
      name: 'look_up',
      input: { marker, step, call: i + 1 },
    }))
    return { calls }
  }
  const values = history.flatMap((item) =>
    item.type === 'result' ? [Number(JSON.parse(item.output).value)] : [],
  )
  const total = values.reduce((sum, value) => sum + value, 0)
  return { calls: [{ name: 'final_answer', input: { marker, total } }] }
}
