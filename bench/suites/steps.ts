import { fileURLToPath } from 'node:url'
import { startChild } from '../harness/child-process.ts'
import { interleave, toRatio } from '../harness/rounds.ts'
import { publish, type Service, startService } from '../harness/service.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const MODEL_SERVER = fileURLToPath(new URL('../servers/model-server.ts', import.meta.url))
const SHORT = 100
const LONG = 500
/** Five short runs take as long as one long run. */
const FULL = { rounds: 7, warmUp: 3, shortRuns: 5, limitMs: 300_000 }
const QUICK = { rounds: 3, warmUp: 1, shortRuns: 1, limitMs: 15_000 }

/** The time of one step of a model agent that calls a tool in each step, with a model that responds at once. */
export async function steps({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, warmUp, shortRuns, limitMs } = quick ? QUICK : FULL
  const model = await startChild(workspace, { args: [MODEL_SERVER] })
  const service = await startService(workspace, { environment: { OPENAI_COMPATIBLE_BASE_URL: model.url } })
  const files = { 'agent.md': agentDocument(new URL(model.url).host) }
  await publish(workspace, service.table, { slug: 'look-up', files })
  const run = stepTimer(service)

  log('warm-up')
  for (let i = 0; i < warmUp; i++) await run(SHORT)
  log(`up to ${rounds} rounds of ${SHORT} and ${LONG} steps`)
  const measureShort = async () => {
    let sum = 0
    for (let i = 0; i < shortRuns; i++) sum += await run(SHORT)
    return sum / shortRuns
  }
  const contenders = [
    { name: 'short' as const, measure: measureShort },
    { name: 'long' as const, measure: () => run(LONG) },
  ]
  const { short, long } = await interleave(contenders, rounds, limitMs)
  return {
    figures: { stepLatency: toRatio(long, short) },
    details: {
      title: 'A step with one tool call, 1 run in flight',
      rows: spreadRows({ [`ms per step of ${SHORT}`]: short, [`ms per step of ${LONG}`]: long }),
    },
  }
}

/** Returns a function that runs the agent with so many steps and returns the milliseconds per step. */
function stepTimer(service: Service): (steps: number) => Promise<number> {
  let runs = 0
  return async (steps) => {
    const model = `openai-compatible/${steps}-${++runs}`
    const startedAt = performance.now()
    const path = `/v1/agents/look-up/executions?maxAgentSteps=${LONG}&model=${model}`
    const body = { question: 'Where is order o1?' }
    const { headers } = await service.request('POST', path, { status: 200, body })
    const ms = performance.now() - startedAt
    const id = String(headers['x-execution-id'])
    const read = await service.request('GET', `/v1/agent_executions/${id}`, { status: 200 })
    if (JSON.parse(read.body).steps !== steps) throw new Error(`Expected ${steps} steps: ${read.body}`)
    return ms / steps
  }
}

const agentDocument = (host: string) => `---
title: Look up
description: Answers questions about orders.
input:
  question: { type: string, description: The question. }
output:
  answer: { type: string, description: The answer. }
tools:
  - name: get_order
    description: Returns an order.
    input: { id: { type: string, description: The order number. } }
    http: { method: GET, url: "http://${host}/orders/{id}", allowedHosts: ["${host}"] }
execution: { maxAgentSteps: ${LONG} }
---
Answer the question. Look up every order first.
`
