import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentsOn, findSmolLM2, startModelServer } from './agents.ts'
import { AGENTS } from './smollm2-agents.ts'

const MIN_SUCCESS_RATE = 0.9

let model: Awaited<ReturnType<typeof startModelServer>>

beforeAll(async () => {
  model = await startModelServer(await findSmolLM2())
})
afterAll(() => model?.stop())

/** Runs agents, each several times. @returns an outcome per run: SUCCESS, or its error */
async function runAll(agents: ReturnType<typeof agentsOn>, cases: typeof AGENTS, runs: number) {
  const outcomes: string[] = []
  for (const { agent, input } of cases) {
    const version = await agents.publish(agent)
    if (Array.isArray(version)) throw new Error(version.join('\n'))
    for (let run = 0; run < runs; run++) {
      const { execution } = await agents.run(version, input)
      outcomes.push(execution.error ? `${version.slug}: ${execution.error.message}` : execution.status)
    }
  }
  return outcomes
}

function expectSuccess(outcomes: string[]) {
  const failures = outcomes.filter((outcome) => outcome !== 'SUCCESS')
  const succeeded = outcomes.length - failures.length
  console.log(`SmolLM2: ${succeeded} of ${outcomes.length} runs ended in SUCCESS`, ...failures)
  expect(succeeded / outcomes.length, failures.join('\n')).toBeGreaterThanOrEqual(MIN_SUCCESS_RATE)
}

// A run takes about 1.5 s, and with tools 6 s, on one idle processor.
describe('on SmolLM2, at least 90 %', { timeout: 1_200_000 }, () => {
  it('of 20 runs of two agents end in SUCCESS', async () => {
    expectSuccess(await runAll(agentsOn(model.url), AGENTS, 10))
  })

  it('of 10 runs of two agents whose tools its template drops end in SUCCESS', async () => {
    const look = { name: 'look_up', description: 'Looks a word up.', input: {} }
    const tools = [{ ...look, http: { method: 'GET', url: 'https://example.com/' } }]
    const withTools = AGENTS.map(({ agent, input }) => ({
      agent: { ...agent, frontMatter: { ...agent.frontMatter, tools } },
      input,
    }))
    expectSuccess(await runAll(agentsOn(model.url), withTools, 5))
  })
})
