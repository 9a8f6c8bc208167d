import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { sharesWorker } from '../../../lib/core/agent.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { DEFAULT_WEBHOOK } from '../../../lib/core/notification.ts'
import { emitCompleted } from '../../../lib/engine/wait-for-completion.ts'
import { answer, aRemote, aRemoteRun, type Behave } from '../../support/engine/remote-run.ts'
import { aProcessedRun } from './processed-run.ts'

const text =
  (status: number, type: string, body: string): Behave =>
  (response) =>
    response.writeHead(status, { 'content-type': type }).end(body)
const yes: Behave = (response) => answer(response, { answer: 'Yes' })

describe('a remote agent', () => {
  it('gets a signed request with its key, its deadline and its trace, and answers with the output', async () => {
    const before = Date.now()
    const { run, remote, execution } = await aProcessedRun(yes, {
      remote: { headers: { Authorization: `Bearer \${secret:KEY}` } },
      environment: { KEY: 'k-e-y-1234', PUBLIC_URL: 'https://service.example' },
      execution: { tenantId: 'acme' },
    })
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Yes' }, steps: 0 })
    const [asked] = remote.asked
    const { organizationId, id, version } = run
    expect(asked?.body).toEqual({
      input: { question: 'Why?' },
      execution: { id, agent: version.slug, version: version.id, tenantId: 'acme', attempt: 1 },
      callbackUrl: expect.stringMatching(/^https:\/\/service\.example\/v1\/callbacks\//),
    })
    const headers = asked?.headers as Record<string, string>
    expect(headers).toMatchObject({
      authorization: 'Bearer k-e-y-1234',
      accept: 'application/json, application/x-ndjson',
      'content-type': 'application/json',
      'idempotency-key': id,
      traceparent: expect.stringMatching(/^00-/),
    })
    const deadline = headers['execution-deadline'] ?? ''
    expect(deadline).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Date.parse(deadline) - before).toBeGreaterThanOrEqual(4_900)
    const key = { organizationId, id: DEFAULT_WEBHOOK }
    const [{ secret } = { secret: '' }] = await run.stores.webhooks.getSecrets(key)
    const verify = (more: object = {}) =>
      new Webhook(secret).verify(asked?.text ?? '', { ...headers, ...more })
    expect(verify()).toEqual(asked?.body)
    // An old signature is none.
    expect(() => verify({ 'webhook-timestamp': '1700000000' })).toThrow()
    expect(sharesWorker(version)).toBe(true)
  })

  it('has no callback where the service has no public URL, and no tenant without one', async () => {
    const { remote } = await aProcessedRun(yes, { environment: {} })
    expect(Object.keys(remote.asked[0]?.body ?? {})).toEqual(['input', 'execution'])
    expect(Object.keys(remote.asked[0]?.body.execution ?? {})).toEqual(['id', 'agent', 'version', 'attempt'])
  })

  it('is not asked without a secret that signs', async () => {
    const { remote, execution } = await aProcessedRun(yes, { withoutSecret: true })
    expect(execution.error).toMatchObject({
      code: 'AgentFailed',
      message: expect.stringContaining('POST /v1/webhooks/default/rotate'),
    })
    expect(remote.asked).toHaveLength(0)
  })

  it.each<[string, Behave, string, code?: string]>([
    ['{ error: { message } }', (r) => answer(r, { error: { message: 'No order.' } }, 404), 'No order.'],
    ['{ message }', (r) => answer(r, { message: 'No order.' }, 400), 'No order.'],
    ['{ detail }', (r) => answer(r, { detail: 'No order.' }, 422), 'No order.'],
    ['a list of details', (r) => answer(r, { detail: [{ msg: 'x' }] }, 422), '[{"msg":"x"}]'],
    ['text', text(403, 'text/plain', 'Go away.\n'), 'Go away.'],
    ['nothing', text(409, 'text/plain', ''), 'The agent answered with HTTP 409 Conflict.'],
    ['another success', (r) => answer(r, {}, 201), 'The agent answered with HTTP 201 Created.'],
    ['invalid JSON', text(200, 'application/json', '{"answer": '), 'The agent answered with invalid JSON.'],
    ['HTML', text(200, 'text/html', '<p>'), 'content type text/html'],
    ['a list', (r) => answer(r, []), 'must be a JSON object', 'OutputSchemaMismatch'],
    ['another output', (r) => answer(r, { answer: 1 }), 'output schema', 'OutputSchemaMismatch'],
    [
      'a redirect',
      (r) => r.writeHead(307, { location: 'http://169.254.169.254/latest' }).end(),
      'is a redirect (307) to http://169.254.169.254/latest. Redirects are not followed.',
    ],
  ])('fails for good with %s', async (_, behave, message, code = 'AgentFailed') => {
    const { remote, execution } = await aProcessedRun(behave)
    expect(execution.error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(remote.asked).toHaveLength(1)
  })

  it.each<[string, Behave]>([
    ['503', (response) => answer(response, { error: 'busy' }, 503)],
    ['500 with half of a body', (response) => response.writeHead(500, { 'content-length': '9' }).end('x')],
    ['429', (response) => answer(response, {}, 429, { 'retry-after': '0' })],
    ['408', (response) => answer(response, {}, 408)],
    ['425', (response) => answer(response, {}, 425)],
    ['a dropped connection', (response) => response.destroy()],
    [
      'a cut',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
        response.write('{"answer"')
        setTimeout(() => response.destroy(), 20)
      },
    ],
    ['silence', () => undefined],
  ])('is asked again after %s, with another ID of the request and the same key', async (_, behave) => {
    const { remote, execution } = await aProcessedRun(
      (response, asked, number) => (number === 1 ? behave : yes)(response, asked, number),
      { remote: { timeoutSeconds: 1 } },
    )
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Yes' } })
    expect(remote.asked).toHaveLength(2)
    const [ids, keys] = ['webhook-id', 'idempotency-key'].map(
      (name) => new Set(remote.asked.map(({ headers }) => headers[name])),
    )
    expect([ids?.size, keys?.size]).toEqual([2, 1])
  })

  it('is released after a few retries, and unavailable after all attempts', async () => {
    const remote = await aRemote((response) =>
      answer(response, { message: 'busy' }, 503, { 'retry-after': '7' }),
    )
    const run = await aRemoteRun(remote)
    const results = []
    for (let attempt = 1; attempt <= 5; attempt++) {
      results.push(await run.process(false, attempt))
      run.passTime(600_000)
    }
    expect(results[0]).toEqual({ retryInMs: 7_000 })
    expect((await run.stored()).error).toEqual({
      code: 'AgentUnavailable',
      message: 'The agent answered with HTTP 503 Service Unavailable: busy',
    })
    // A Retry-After that is longer than a worker waits is left to the queue.
    expect(remote.asked).toHaveLength(5)
    expect(remote.asked.map(({ body }) => body.execution.attempt)).toEqual([1, 2, 3, 4, 5])
  })

  it('is denied at an address that the egress policy does not allow', async () => {
    const run = await aRemoteRun(null, { remote: { url: 'https://10.0.0.7/agent', allowedHosts: [] } })
    await run.process()
    expect((await run.stored()).error).toMatchObject({
      code: 'AgentFailed',
      message: expect.stringContaining('non-public address'),
    })
  })

  it('may be on this machine without allowedHosts only for the organization that lives there', async () => {
    const remote = await aRemote(yes)
    const organizationId = '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c49'
    const environment = { LOOPBACK_ORGANIZATION: organizationId }
    const options = { remote: { allowedHosts: [] }, environment }
    const own = await aRemoteRun(remote, { ...options, agent: { organizationId } })
    const other = await aRemoteRun(remote, options)
    await own.process()
    await other.process()
    expect((await own.stored()).status).toBe('SUCCESS')
    expect((await other.stored()).error?.code).toBe('AgentFailed')
    expect(remote.asked).toHaveLength(1)
  })

  it('repeats no secret in outputs and errors', async () => {
    const remote = await aRemote((response, { headers }, number) =>
      number === 1
        ? answer(response, { answer: `I got ${headers['x-key']}.` })
        : answer(response, { message: `Wrong key ${headers['x-key']}.` }, 401),
    )
    const environment = { KEY: 'top-secret-1' }
    const options = { remote: { headers: { 'X-Key': `\${secret:KEY}` } }, environment }
    const [good, bad] = [await aRemoteRun(remote, options), await aRemoteRun(remote, options)]
    await good.process()
    await bad.process()
    expect((await good.stored()).output).toEqual({ answer: 'I got [secret KEY].' })
    expect((await bad.stored()).error?.message).toBe('Wrong key [secret KEY].')
    const missing = await aRemoteRun(remote, { ...options, environment: {} })
    await missing.process()
    expect((await missing.stored()).error).toEqual({
      code: 'ToolUnavailable',
      message: 'Secret KEY not found.',
    })
  })

  it('loses its connection when the run is cancelled', async () => {
    const begun = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    const remote = await aRemote((response) => {
      response.on('close', () => closed.resolve())
      begun.resolve()
    })
    const run = await aRemoteRun(remote)
    const processing = run.process()
    await begun.promise
    const finishedAt = new Date().toISOString()
    await run.engine.executions.end({ ...run.execution, error: CANCELLED, finishedAt })
    emitCompleted(run.id)
    await Promise.all([processing, closed.promise])
    expect((await run.stored()).error).toEqual(CANCELLED)
    expect(remote.asked).toHaveLength(1)
  })
})
