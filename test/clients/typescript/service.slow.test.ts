import { beforeAll, describe, expect, inject, it } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { collect } from '../../support/data/collect.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'

describe('the service', () => {
  type Agents = {
    echo: { input: { text: string; count?: number }; output: { text: string } }
    wait: { input: { seconds: number }; output: { waitedSeconds: number } }
    'three-steps': { input: { log: string }; output: { values: number[] } }
  }

  let org: TestOrganization
  let client: Client<Agents>
  beforeAll(async () => {
    org = await newOrganization()
    for (const slug of ['echo', 'wait', 'three-steps']) await org.publish(slug)
    client = new Client<Agents>({ baseUrl: `${inject('service')}/v1/`, token: org.token })
  })

  it('runs, starts and waits', async () => {
    expect(await client.run('echo', { text: 'x' })).toEqual({ text: 'x' })
    const started = await client.start('wait', { seconds: 0 })
    expect(started).toMatchObject({ status: 'IN_PROGRESS', output: null })
    const ended = await client.wait(started)
    expect(ended.output.waitedSeconds).toBeGreaterThanOrEqual(0)
    expect(ended).toEqual(await client.get(started.id))
  })

  it('streams a run', async () => {
    const all = await collect(client.stream('three-steps', { log: '/dev/null' }))
    expect(all.map(({ event }) => event).filter((event) => event === 'step')).toHaveLength(3)
    const last = all.at(-1)
    expect(last?.event === 'done' && last.data.output?.values).toEqual([1, 2, 3])
    const again = await collect(client.events(last?.event === 'done' ? last.data : '', { after: 2 }))
    expect(again.map(({ event }) => event)).toEqual(['status', 'step', 'done'])
  })

  /** The compiler does not know it yet. */
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

  it('has the numbers of JavaScript by default, and exact ones with the functions of the caller', async () => {
    const digits = '12345678901234567890'
    const input = { text: 'x', count: Number(digits) }
    const rounded = await client.wait(await client.start('echo', input))
    expect(rounded.input.count).toBe(12345678901234567000)
    const exact = new Client<Agents>({
      baseUrl: inject('service'),
      token: org.token,
      // As docs/clients.md recommends.
      parse: (text) =>
        JSON.parse(text, (_, value, context?: { source?: string }) =>
          Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(context?.source ?? value) : value,
        ),
      stringify: (value) =>
        JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? rawJSON(String(part)) : part)),
    })
    const started = await exact.start('echo', { text: 'x', count: BigInt(digits) as never })
    expect((await exact.wait(started)).input.count).toBe(BigInt(digits))
    expect((await org.call('GET', `/v1/agent_executions/${started.id}`)).text).toContain(`"count":${digits}`)
  })

  describe('options', () => {
    it.each(['', 'agents.example.com', 'ftp://x', 'https://x/?a=1'])(
      'reject the base URL "%s"',
      (baseUrl) => {
        expect(() => new Client({ baseUrl, token: 'x' })).toThrow(/^baseUrl must be a URL/)
      },
    )

    it.each([
      [{ token: '' }, 'token must be an API token.'],
      [{ maxRetries: -1 }, 'maxRetries must be a number from 0, not -1.'],
      [{ timeoutMs: 0 }, 'timeoutMs must be a number above 0, not 0.'],
      [{ timeoutMs: Number.NaN }, 'timeoutMs must be a number above 0, not NaN.'],
    ])('reject %o', async (options, message) => {
      const use = async () => new Client({ baseUrl: 'http://127.0.0.1:9', token: 'x', ...options }).me()
      await expect(use()).rejects.toThrow(message)
    })
  })
})
