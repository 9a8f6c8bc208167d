import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentsOn } from './agents.ts'
import { findSmolLM2, startModelServer } from './models.ts'
import { AGENTS } from './smollm2-agents.ts'

const RUNS_PER_AGENT = 10
const MIN_SUCCESS_RATE = 0.9

let model: Awaited<ReturnType<typeof startModelServer>>

beforeAll(async () => {
  model = await startModelServer(await findSmolLM2())
})
afterAll(() => model?.stop())

// About 1.5 s a run on one processor.
it('at least 90 % of 50 runs of five agents end in SUCCESS', { timeout: 1_200_000 }, async () => {
  const agents = agentsOn(model.url)
  const outcomes: string[] = []
  for (const { agent, input } of AGENTS) {
    const version = await agents.publish(agent)
    if (Array.isArray(version)) throw new Error(version.join('\n'))
    for (let run = 0; run < RUNS_PER_AGENT; run++) {
      const { execution } = await agents.run(version, input)
      outcomes.push(execution.error ? `${version.slug}: ${execution.error.message}` : execution.status)
    }
  }
  const succeeded = outcomes.filter((outcome) => outcome === 'SUCCESS').length
  const failures = outcomes.filter((outcome) => outcome !== 'SUCCESS')
  console.log(`SmolLM2: ${succeeded} of ${outcomes.length} runs ended in SUCCESS`, ...failures)
  expect(succeeded / outcomes.length, failures.join('\n')).toBeGreaterThanOrEqual(MIN_SUCCESS_RATE)
})
