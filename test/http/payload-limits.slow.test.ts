import { beforeAll, describe, expect, it, vi } from 'vitest'
import { endpoint } from '../../lib/http/endpoint.ts'
import { toGatewayEvent } from '../infra/gateway-event.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'

let org: TestOrganization

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
})

const MAX = 6 * 1024 * 1024
/** Of the event without its body: less than this. */
const CONTEXT = 10_000

/** A body, and what it takes in a string of JSON for each repetition of its text. */
const BODIES = [
  ['quotes', '\\"', 4],
  ['backslashes', '\\\\', 4],
  ['line breaks', '\\n', 3],
  ['letters', 'a', 1],
  ['umlauts', 'ä', 2],
  ['emoji', '😀', 4],
] as const

describe('a request body', () => {
  const run = (body: string) =>
    org.call('POST', '/v1/agents/echo/executions?execMode=async', { body: JSON.parse(body) })

  it.each(BODIES)('of %s is rejected when it does not fit an event of Lambda', async (_, text, bytes) => {
    const json = `{"text":"${text.repeat(Math.ceil(MAX / bytes))}"}`
    const { status, json: problem } = await run(json)
    expect([status, problem.code]).toEqual([413, 'PayloadTooLarge'])
    expect(problem.detail).toContain('6,291,456 bytes')
  })

  it.each(BODIES.filter(([name]) => name !== 'letters' && name !== 'umlauts' && name !== 'emoji'))(
    'of %s is accepted when it just fits one',
    async (_, text, bytes) => {
      const { status } = await run(`{"text":"${text.repeat(Math.floor((MAX - CONTEXT) / bytes))}"}`)
      expect(status).toBe(202)
    },
  )
})

describe('a response that is not streamed', () => {
  const respond = async (text: string, streaming = '') => {
    vi.stubEnv('RESPONSE_STREAMING', streaming)
    const handler = endpoint('check-health', async () => ({ status: 200, body: { text } }))
    const event = toGatewayEvent('check-health', { organizationId: '' })
    return (await handler(event as never, {} as never)) as unknown as { statusCode: number; body: string }
  }

  it.each([
    ['"', 4],
    ['\\', 4],
    ['\n', 3],
    ['a', 1],
    ['ä', 2],
  ])('of %j is an error when Lambda would not return it, and no other', async (text, bytes) => {
    const tooLarge = await respond(text.repeat(Math.ceil(MAX / bytes)))
    expect([tooLarge.statusCode, JSON.parse(tooLarge.body).code]).toEqual([413, 'PayloadTooLarge'])
    const fits = await respond(text.repeat(Math.floor((MAX - CONTEXT) / bytes)))
    expect(fits.statusCode).toBe(200)
    expect(Buffer.byteLength(JSON.stringify(fits))).toBeLessThanOrEqual(MAX)
  })
})
