import { beforeAll, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { openEventStream } from '../../support/service/event-stream.ts'

const STEPS = 100
const DISCONNECTS = 50

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('marked-steps')
})

const start = async (pauseMs: number): Promise<string> => {
  const input = { marker: 'a', number: 1, steps: STEPS, pauseMs, log: '/dev/null' }
  return (await org.run('marked-steps', input, 'execMode=async')).json.id
}

it(`a reader that is disconnected ${DISCONNECTS} times sees every step of a run once, in order`, async () => {
  const url = `${inject('service')}/v1/agent_executions/${await start(50)}/events`
  const seen: number[] = []
  let disconnects = 0
  let isDone = false
  while (!isDone) {
    const stream = await openEventStream(url, { token: org.token, lastEventId: seen.at(-1) ?? 0 })
    const received = seen.length
    try {
      for await (const { event, id } of stream.events) {
        if (event === 'step') seen.push(Number(id))
        isDone = event === 'done'
        if (disconnects < DISCONNECTS && seen.length > received) break
      }
    } finally {
      stream.close()
    }
    if (!isDone) disconnects++
  }
  expect(seen).toEqual(Array.from({ length: STEPS }, (_, i) => i + 1))
  expect(disconnects).toBe(DISCONNECTS)
})
