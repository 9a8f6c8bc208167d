import { beforeAll, describe, expect, inject, it } from 'vitest'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { checkAcceptance } from '../../proof/checks/acceptance.ts'
import { checkLoad, planRun, type Service } from '../../proof/checks/load.ts'
import { prepareService } from '../../proof/checks/prepare.ts'
import { checkSmoke } from '../../proof/checks/smoke.ts'
import { type Behavior, type ProxyRequest, startProxy } from '../../support/proxy/start-proxy.ts'

const { signal } = new AbortController()
const OPTIONS = { durationMs: 2_000, perSecond: 20, settleMs: 30_000, signal, pauseShare: 0.02 }
const RUNS = 40

/** A new organization on the shared service. */
const prepare = () =>
  prepareService(
    { baseUrl: inject('service'), tableName: LOCAL_TABLE },
    { DYNAMODB_ENDPOINT: inject('dynamodb') },
  )

let service: Service
beforeAll(async () => {
  service = await prepare()
})

/** Checks a new organization through a proxy that does something to one request. */
async function loadThrough(behavior: Behavior, { settleMs = OPTIONS.settleMs } = {}) {
  const own = await prepare()
  const proxy = await startProxy(own.baseUrl, behavior)
  try {
    return await checkLoad({ ...own, baseUrl: proxy.url }, { ...OPTIONS, settleMs, disturb: async () => [] })
  } finally {
    await proxy.stop()
  }
}

/** What was lost does not come. */
const BRIEF = { settleMs: 3_000 }

const isFirstRun = ({ body }: ProxyRequest) => body.includes('"proof-1"')

describe('the checks of a proof', () => {
  it('pass on the local service: smoke', async () => {
    const { problems = [], figures = {} } = await checkSmoke(service, signal)
    expect(problems).toEqual([])
    expect(figures.requests).toBeGreaterThan(50)
  })

  it('pass on the local service: acceptance', async () => {
    expect(await checkAcceptance(service)).toEqual({ problems: [], figures: { checks: 13 } })
  })

  it('pass on the local service: load', async () => {
    const disturb = async (stopped: AbortSignal) => {
      await new Promise((resolve) => stopped.addEventListener('abort', resolve))
      return []
    }
    const { problems, figures } = await checkLoad(service, { ...OPTIONS, disturb })
    expect(problems).toEqual([])
    expect(figures).toMatchObject({ 'runs requested': RUNS, SUCCESS: RUNS })
    expect(Object.keys(figures ?? {})).toEqual(
      expect.arrayContaining(['async slow: ms p50, p99', 'sync large: ms p50, p99']),
    )
  })
})

describe('the acceptance', () => {
  it('reports a check whose response is another one', async () => {
    const proxy = await startProxy(service.baseUrl, async (request, next) => {
      const reply = await next(request)
      if (typeof reply !== 'object' || !request.body.includes('"sync"')) return reply
      return { ...reply, body: Buffer.from('{"text":"another"}') }
    })
    const { problems } = await checkAcceptance({ ...service, baseUrl: proxy.url })
    await proxy.stop()
    expect(problems).toEqual([expect.stringContaining('a synchronous run returns its bare output')])
  })
})

describe('the load', () => {
  it('reports a run that was accepted and lost', async () => {
    const lost = '01900000-0000-7000-8000-000000000000'
    const { problems = [] } = await loadThrough(async (request, next) => {
      if (!isFirstRun(request)) return next(request)
      const headers = { 'x-execution-id': lost, 'content-type': 'application/json' }
      return { status: 202, headers, body: Buffer.from('{}') }
    }, BRIEF)
    expect(problems.join('\n')).toContain(`proof-1 was accepted as ${lost} and is lost.`)
  })

  it('reports a run that was executed twice', async () => {
    const own = await prepare()
    const { problems } = await checkLoad(own, {
      ...OPTIONS,
      disturb: async () => {
        const { slug, input } = planRun(1)
        await fetch(`${own.baseUrl}/v1/agents/${slug}/executions`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${own.token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(input),
        })
        return []
      },
    })
    expect(problems).toEqual(['proof-1 has 2 executions instead of 1.'])
  })
})
