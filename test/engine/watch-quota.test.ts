import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { watchQuota } from '../../lib/engine/watch-quota.ts'

const HOUR_MS = 3_600_000
const environment = {
  SHARED_CONCURRENCY: 'unknown',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
}
const answer = (quota: unknown) => Response.json({ AccountLimit: { ConcurrentExecutions: quota } })

/** The time for an answer, which is over when a test says so. */
let time = new AbortController()

function whileTimeout(response: Promise<Response>): Promise<Response> {
  setTimeout(() => time.abort(new DOMException('No answer in time.', 'TimeoutError')))
  return response
}

describe('watchQuota', () => {
  let now = 0
  const fetch = vi.fn<(request: Request) => Promise<Response>>()
  const putQuota = vi.fn<(params: { quota: number; until: number }) => Promise<void>>()
  const open = (variables: Record<string, string | undefined> = environment) =>
    watchQuota({ putQuota }, { environment: variables, now: () => now })

  beforeEach(() => {
    now = HOUR_MS
    fetch.mockReset().mockImplementation(async () => answer(10))
    vi.stubGlobal('fetch', fetch)
    putQuota.mockReset().mockResolvedValue()
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      time = new AbortController()
      return time.signal
    })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  it('reads the quota of the region once an hour, and stores it for three', async () => {
    const sweep = open()
    for (let minute = 0; minute < 60; minute++) {
      await sweep()
      now += 60_000
    }
    expect(fetch).toHaveBeenCalledOnce()
    const url = 'https://lambda.eu-central-1.amazonaws.com/2016-08-19/account-settings/'
    expect(fetch.mock.calls[0]?.[0].url).toBe(url)
    expect(AbortSignal.timeout).toHaveBeenCalledWith(5_000)
    expect(putQuota.mock.calls).toEqual([[{ quota: 10, until: 4 * HOUR_MS }]])
    await sweep()
    expect(fetch).toHaveBeenCalledTimes(2)
  })

  it('asks an emulator, and China in its domain', async () => {
    await open({ ...environment, AWS_ENDPOINT_URL: 'http://localhost:4566' })()
    await open({ ...environment, AWS_REGION: 'cn-north-1' })()
    const hosts = fetch.mock.calls.map(([{ url }]) => new URL(url).host)
    expect(hosts).toEqual(['localhost:4566', 'lambda.cn-north-1.amazonaws.com.cn'])
  })

  it.each([undefined, 'on'])('asks nothing if the stack knows the quota: %j', async (SHARED_CONCURRENCY) => {
    await open({ ...environment, SHARED_CONCURRENCY })()
    expect(fetch).not.toHaveBeenCalled()
  })

  it.each<[string, () => Promise<Response>]>([
    ['fails', () => Promise.reject(new TypeError('fetch failed'))],
    ['is denied', async () => new Response('{"Message":"not authorized"}', { status: 403 })],
    ['is throttled', async () => new Response('{}', { status: 429 })],
    [
      'is redirected',
      async () => new Response(null, { status: 302, headers: { location: 'https://a.example' } }),
    ],
    ['is never answered', () => whileTimeout(new Promise(() => {}))],
    ['never ends', () => whileTimeout(Promise.resolve(new Response(new ReadableStream())))],
    ['answers no JSON', async () => new Response('<html>')],
    ['answers null', async () => Response.json(null)],
    ['answers no limit', async () => Response.json({ AccountLimit: [] })],
    ...[undefined, null, '10', 0, -1, 1.5, 1e300, true].map((quota): [string, () => Promise<Response>] => [
      `answers ${quota}`,
      async () => answer(quota),
    ]),
  ])(
    'stores nothing, does not fail, and asks again after ten minutes if the request %s',
    async (_, respond) => {
      fetch.mockImplementationOnce(respond)
      const sweep = open()
      await sweep()
      now += 599_999
      await sweep()
      expect(fetch).toHaveBeenCalledOnce()
      expect(putQuota).not.toHaveBeenCalled()
      now += 1
      await sweep()
      expect(putQuota).toHaveBeenCalledOnce()
    },
  )

  it('does not fail if the quota cannot be stored, nor without credentials', async () => {
    putQuota.mockRejectedValueOnce(new Error('Throttled.'))
    const sweep = open()
    await sweep()
    now += 600_000
    await sweep()
    await open({ SHARED_CONCURRENCY: 'unknown' })()
    expect(putQuota).toHaveBeenCalledTimes(2)
  })
})
