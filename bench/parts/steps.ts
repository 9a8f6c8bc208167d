import { fileURLToPath } from 'node:url'
import { startChild } from '../child.ts'
import { call } from '../client.ts'
import { short, withSpread } from '../format.ts'
import { publishModelAgent } from '../model/publish-model-agent.ts'
import type { Context, Finding, Part } from '../part.ts'
import { takeTurns } from '../rounds.ts'
import { type Service, startService } from '../service.ts'
import { ratioOf, spreadOf } from '../statistics.ts'

const MODEL_SERVER = fileURLToPath(new URL('../model/server.ts', import.meta.url))
/** Runs of 100 steps in a turn: five make a turn as long as that of the one of 500. */
const FULL = { rounds: 7, warmUp: 3, shortRuns: 5, limitMs: 300_000 }
const QUICK = { rounds: 3, warmUp: 1, shortRuns: 1, limitMs: 15_000 }
const SHORT = 100
const LONG = 500

/** What a step of a model agent takes that calls a tool in each, with a model that answers at once. */
export const steps: Part = { letter: 'd', title: 'a step of a model agent', run }

async function run({ workplace, quick, say }: Context): Promise<Finding> {
  const { rounds, warmUp, shortRuns, limitMs } = quick ? QUICK : FULL
  const model = await startChild(workplace, { command: process.execPath, args: [MODEL_SERVER] })
  const environment = { OPENAI_COMPATIBLE_BASE_URL: model.url }
  const service = await startService(workplace, { environment })
  await publishModelAgent(workplace, service.table, model.url)
  say('warming up')
  for (let i = 0; i < warmUp; i++) await msPerStep(service, SHORT)
  say(`up to ${rounds} rounds of ${SHORT} and ${LONG} steps`)
  const times = await takeTurns(
    [
      { name: 'short', turn: () => meanOf(shortRuns, () => msPerStep(service, SHORT)) },
      { name: 'long', turn: () => msPerStep(service, LONG) },
    ],
    rounds,
    limitMs,
  )
  const ratio = ratioOf(times.long, times.short)
  const rows = [
    { steps: SHORT, 'ms per step': withSpread(spreadOf(times.short)), [`/ at ${SHORT}`]: short(1) },
    { steps: LONG, 'ms per step': withSpread(spreadOf(times.long)), [`/ at ${SHORT}`]: withSpread(ratio) },
  ]
  const figures = {
    'step at 500 / 100': ratio,
    'step ms at 100': spreadOf(times.short),
    'step ms at 500': spreadOf(times.long),
  }
  return { tables: [{ title: 'A step with one tool call, model of 0 ms, 1 run in flight', rows }], figures }
}

let runs = 0

async function msPerStep(service: Service, steps: number): Promise<number> {
  const path = `/v1/agents/look-up/executions?maxAgentSteps=500&model=openai-compatible/${steps}-${++runs}`
  const startedAt = performance.now()
  const answer = await call(
    service.request('POST', path, { status: 200, body: { question: 'Where is order o1?' } }),
  )
  const took = performance.now() - startedAt
  const id = String(answer.headers['x-execution-id'])
  const { body } = await call(service.request('GET', `/v1/agent_executions/${id}`, { status: 200 }))
  const taken = (JSON.parse(body) as { steps: number }).steps
  if (taken !== steps) throw new Error(`A run took ${taken} steps, not ${steps}: ${body}`)
  return took / steps
}

async function meanOf(times: number, measure: () => Promise<number>): Promise<number> {
  let sum = 0
  for (let i = 0; i < times; i++) sum += await measure()
  return sum / times
}
