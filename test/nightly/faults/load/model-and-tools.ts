import { FINAL_ANSWER } from '../../../../lib/core/model.ts'
import { dataOf, type RecordedRequest } from '../../../support/scripted-model/recorded-request.ts'
import { startScriptedModel } from '../../../support/scripted-model/start-scripted-model.ts'
import type { Script, ScriptedResponse } from '../../../support/scripted-model/turn.ts'
import { startServer } from '../../../support/service/start-server.ts'
import {
  childInput,
  FAILED_CALL,
  type ModelInput,
  stepOfCall,
  tokensOf,
  toolValue,
  usageOf,
} from './model-runs.ts'

const SCRIPT = 'adding-up'
/** The tool that is an agent. */
export const DELEGATE = 'delegate'
/** Long enough for a kill to interrupt a model response or a tool call. */
const RESPONSE_MS = 80

export type ToolCall = { tool: string; marker: string; step: number; call: number; key: string }

/** The model of all model agents and the tool that they call. Both respond after `responseMs` and record requests. */
export async function startModelAndTools(responseMs = RESPONSE_MS) {
  const scripted = await startScriptedModel()
  /** How often each response was requested, by `marker step`. */
  const modelRequests = new Map<string, number>()
  /** The tokens of the responses, by marker. */
  const tokens = new Map<string, number>()
  const toolCalls: ToolCall[] = []

  // The response depends only on the history. Tool call IDs are new each time, as with a real model.
  const script: Script = ({ history, tools }) => {
    const input = inputOf(history)
    const { marker } = input
    const callSteps = history.flatMap((item) =>
      item.type === 'call' ? [stepOfCall(Object(item.input))] : [],
    )
    const step = Math.max(0, ...callSteps) + 1
    const name = `${marker} ${step}`
    modelRequests.set(name, (modelRequests.get(name) ?? 0) + 1)
    const usage = usageOf(step)
    tokens.set(marker, (tokens.get(marker) ?? 0) + tokensOf(usage))
    const toolNames = tools.map((tool) => tool.name).filter((tool) => tool !== FINAL_ANSWER)
    return { ...responseTo(input, step, { history, toolNames }), usage, delayMs: responseMs }
  }
  scripted.script(SCRIPT, script)

  const tools = await startServer((request, response) => {
    const [, tool = '', marker = '', step, call] = (request.url ?? '').split('/')
    const key = String(request.headers['idempotency-key'])
    toolCalls.push({ tool, marker, step: Number(step), call: Number(call), key })
    const value = toolValue(Number(step), Number(call))
    response.setHeader('Content-Type', 'application/json')
    setTimeout(() => response.end(JSON.stringify({ value })), responseMs)
  })

  return {
    modelRequests,
    tokens,
    toolCalls,
    environment: scripted.environmentFor('openai-compatible') as Record<string, string>,
    model: scripted.modelFor('openai-compatible', SCRIPT),
    toolHost: tools.host,
    /** @throws when the model got a request that a real provider would reject */
    assertValidRequests: () => scripted.assertDone(SCRIPT),
    /** Forgets the recorded requests. */
    clear(): void {
      scripted.script(SCRIPT, script)
      modelRequests.clear()
      tokens.clear()
      toolCalls.length = 0
    },
    async stop() {
      await Promise.all([scripted.stop(), tools.stop()])
    },
  }
}

export type ModelAndTools = Awaited<ReturnType<typeof startModelAndTools>>

function inputOf(history: RecordedRequest['history']): ModelInput {
  const [first] = history
  if (first?.type !== 'text') throw new Error('The history does not begin with the input.')
  return JSON.parse(first.text) as ModelInput
}

type Context = { history: RecordedRequest['history']; toolNames: string[] }

/** Calls each tool `parallel` times in every step but the last, which adds up the results. */
function responseTo(
  { marker, steps, parallel }: ModelInput,
  step: number,
  { history, toolNames }: Context,
): ScriptedResponse {
  if (step < steps) {
    const calls = toolNames.flatMap((name) =>
      Array.from({ length: parallel }, (_, i) => ({
        name,
        input: name === DELEGATE ? childInput(marker, step, i + 1) : { marker, step, call: i + 1 },
      })),
    )
    return { calls }
  }
  const values = history.flatMap((item) => (item.type === 'result' ? [readValue(item.output)] : []))
  const total = values.reduce((sum, value) => sum + value, 0)
  return { calls: [{ name: FINAL_ANSWER, input: { marker, total } }] }
}

/** Of the result of a call: a looked up value, the total of an agent, or an error. */
function readValue(output: string): number {
  try {
    const { value, total } = JSON.parse(dataOf(output))
    return Number(value ?? total)
  } catch {
    return FAILED_CALL
  }
}
