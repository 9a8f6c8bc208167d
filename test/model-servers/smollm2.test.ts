import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { type AgentFile, agentsOn, findSmolLM2, startModelServer } from './agents.ts'
import { object } from './output-schemas.ts'

/** Lengths are limited because a model this small does not always end a text by itself. */
const text = (maxLength: number, description: string) => ({ type: 'string', maxLength, description })

function anAgent(slug: string, input: JsonObject, output: JsonObject, instructions: string): AgentFile {
  return { frontMatter: { title: slug, slug, input, output: object(output) }, instructions }
}

const TEXT = { text: { type: 'string', description: 'The text.' } }

/** Agents as people try them first, each with an input. None has tools: the template of SmolLM2 cannot show them. */
const AGENTS: { agent: AgentFile; input: JsonObject }[] = [
  {
    agent: anAgent(
      'extract-contact',
      TEXT,
      {
        name: text(40, 'The name of the person.'),
        city: { type: ['string', 'null'], maxLength: 30, description: 'The city, or null if there is none.' },
        phone: { type: ['string', 'null'], maxLength: 20, description: 'The phone number, or null.' },
      },
      'Extract the contact from the text.',
    ),
    input: { text: 'Hi, this is Maria Keller from Bern. You can reach me at +41 31 555 01 23 after noon.' },
  },
  {
    agent: anAgent(
      'triage-ticket',
      {
        subject: { type: 'string', description: 'The subject.' },
        body: { type: 'string', description: 'The message.' },
      },
      {
        priority: { type: 'string', enum: ['low', 'normal', 'high', 'urgent'], description: 'The priority.' },
        team: {
          type: 'string',
          enum: ['billing', 'accounts', 'technical', 'other'],
          description: 'The team.',
        },
        isIncident: { type: 'boolean', description: 'Whether something is broken.' },
        summary: text(120, 'One sentence for the team.'),
      },
      'Triage the support ticket.',
    ),
    input: {
      subject: 'Cannot log in',
      body: 'Since this morning the login page shows an error. We need access today.',
    },
  },
]

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
