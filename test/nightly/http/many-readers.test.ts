import { beforeAll, expect, inject, it, vi } from 'vitest'
import { median } from '../../../bench/harness/rounds.ts'
import { createToken } from '../../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../../support/engine/organization.ts'
import { waitForExecution } from '../../support/service/client.ts'
import { openEventStream } from '../../support/service/event-stream.ts'

/** The most that an organization may have, with ten tokens. */
const READERS = 200
const READERS_OF_TOKEN = 20
const STEPS = 40
const ROUNDS = 3
const MAX_RATIO = 1.1

let org: TestOrganization
let tokens: string[]
beforeAll(async () => {
  org = await newOrganization()
  const newToken = () => createToken(sharedTable(), org.id)
  tokens = await Promise.all(Array.from({ length: READERS / READERS_OF_TOKEN }, newToken))
  await org.publish('marked-steps')
})

/** Milliseconds that a run takes, after its readers have connected. */
async function timeRun(readers: number): Promise<number> {
  const input = { marker: 'a', number: 1, steps: STEPS, pauseMs: 100, log: '/dev/null' }
  const { id } = (await org.run('marked-steps', input, 'execMode=async')).json
  const url = `${inject('service')}/v1/agent_executions/${id}/events`
  const streams = await Promise.all(
    Array.from({ length: readers }, (_, reader) =>
      openEventStream(url, { token: tokens[Math.floor(reader / READERS_OF_TOKEN)] ?? '' }),
    ),
  )
  const counts = await Promise.all(
    streams.map(async ({ events }) => {
      let steps = 0
      for await (const { event } of events) if (event === 'step') steps++
      return steps
    }),
  )
  expect(counts).toEqual(Array(readers).fill(STEPS))
  await waitForExecution(org.call, id)
  const steps = (await org.call('GET', `/v1/agent_executions/${id}/steps?limit=100`)).json
  return Date.parse(steps.at(-1).finishedAt) - Date.parse(steps[STEPS / 4].startedAt)
}

it(`${READERS} readers slow a run by 10 % at most`, async () => {
  // Other work on the machine can only make a measurement worse.
  await vi.waitFor(
    async () => {
      const [alone, read]: number[][] = [[], []]
      for (let round = 0; round < ROUNDS; round++) {
        alone?.push(await timeRun(0))
        read?.push(await timeRun(READERS))
      }
      expect(median(read ?? []) / median(alone ?? [])).toBeLessThanOrEqual(MAX_RATIO)
    },
    { timeout: 280_000 },
  )
})
