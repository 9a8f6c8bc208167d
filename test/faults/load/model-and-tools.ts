import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RecordedRequest } from '../../support/scripted-model/recorded-request.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import type { Script, ScriptedResponse } from '../../support/scripted-model/turn.ts'
import { type ModelInput, toolValue } from './workload.ts'

const SCRIPT = 'adding-up'
/** Long enough for a kill to interrupt a model response or a tool call. */
const RESPONSE_MS = 80

export type ToolCall = { marker: string; step: number; call: number; key: string }

/** The model of all model agents and the tool that they call, which respond after `responseMs`. Both record their requests. */
export async function startModelAndTools(responseMs = RESPONSE_MS) {
  const scripted = await startScriptedModel()
  /** How often each response was requested, by `marker step`. */
  const modelRequests = new Map<string, number>()
  const toolCalls: ToolCall[] = []

  // The response depends only on the history. Tool call IDs are new each time, as with a real model.
  const script: Script = ({ history }) => {
    const { marker, steps, parallel } = inputOf(history)
    const callSteps = history.flatMap((item) =>
      item.type === 'call' ? [Object(item.input).step as number] : [],
    )
    const step = Math.max(0, ...callSteps) + 1
    const name = `${marker} ${step}`
    modelRequests.set(name, (modelRequests.get(name) ?? 0) + 1)
    return { ...responseTo({ marker, steps, parallel }, step, history), delayMs: responseMs }
  }
  scripted.script(SCRIPT, script)

  const tools = createServer((request, response) => {
    const [, marker = '', step, call] = (request.url ?? '').split('/')
    const key = String(request.headers['idempotency-key'])
    toolCalls.push({ marker, step: Number(step), call: Number(call), key })
    response.setHeader('Content-Type', 'application/json')
    const value = toolValue(Number(step), Number(call))
    setTimeout(() => response.end(JSON.stringify({ value })), responseMs)
  })
  await new Promise<void>((resolve) => tools.listen(0, '127.0.0.1', resolve))

  return {
    modelRequests,
    toolCalls,
    environment: scripted.environmentFor('openai-compatible') as Record<string, string>,
    model: scripted.modelFor('openai-compatible', SCRIPT),
    toolHost: `127.0.0.1:${(tools.address() as AddressInfo).port}`,
    /** @throws when the model got a request that a real provider would reject */
    assertValidRequests: () => scripted.assertDone(SCRIPT),
    /** Forgets the recorded requests. */
    clear(): void {
      scripted.script(SCRIPT, script)
      modelRequests.clear()
      toolCalls.length = 0
    },
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

function responseTo(
  { marker, steps, parallel }: ModelInput,
  step: number,
  history: RecordedRequest['history'],
): ScriptedResponse {
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
