import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { MAX_PAYLOAD_BYTES } from '../../../lib/core/limits.ts'
import { DEFAULT_WEBHOOK } from '../../../lib/core/notification.ts'
import type { DeliveryMessage } from '../../../lib/core/ports/queues.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { deliverEvents } from '../../../lib/engine/notifications/deliver.ts'
import { openDeliveryEngine } from '../../../lib/engine/notifications/open-delivery-engine.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { sendSignal } from '../../../lib/engine/waiting/send-signal.ts'
import { system } from '../../../lib/system.ts'
import { answer, aRemote, aRemoteRun } from '../../support/engine/remote-run.ts'
import { aProcessedRun } from './processed-run.ts'

/** A run whose agent has accepted it, and the URL of its callback. */
async function anAcceptedRun(accepted: JsonObject = {}, options = {}) {
  const { remote, run } = await aProcessedRun(
    (response, { path }) =>
      path.endsWith('/cancel') ? response.writeHead(204).end() : answer(response, accepted, 202),
    options,
  )
  return { remote, run, callbackUrl: remote.asked[0]?.body.callbackUrl }
}

describe('a remote agent that answers 202', () => {
  it('suspends the run at no cost until its callback, which it may repeat', async () => {
    const { remote, run, callbackUrl } = await anAcceptedRun()
    expect(await run.stored()).toMatchObject({
      status: 'IN_PROGRESS',
      lease: null,
      suspension: { waits: [{ kind: 'signal', name: 'callback~1' }] },
    })
    const sent = await run.callBack(callbackUrl, { output: { answer: 'Later.' } })
    expect(run.sent.at(-1)).toMatchObject({ executionId: run.id, wakes: true })
    await run.process(true)
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'Later.' } })
    expect(await run.callBack(callbackUrl, { output: { answer: 'Later.' } })).toEqual(sent)
    await expect(run.callBack(callbackUrl, { output: { answer: 'Other.' } })).rejects.toMatchObject({
      code: 'IdempotencyKeyReused',
    })
    expect(remote.asked).toHaveLength(1)
  })

  it('may deliver as much as an output may have, and no more', async () => {
    const { run, callbackUrl } = await anAcceptedRun()
    const of = (bytes: number) => ({ output: { answer: 'x'.repeat(bytes - 24) } })
    await expect(run.callBack(callbackUrl, of(MAX_PAYLOAD_BYTES + 1))).rejects.toMatchObject({ status: 413 })
    await run.callBack(callbackUrl, of(MAX_PAYLOAD_BYTES))
    await run.process(true)
    expect((await run.stored()).status).toBe('SUCCESS')
  })

  it('ends the run with its error, or is asked again if that may be retried', async () => {
    const { remote, run, callbackUrl } = await anAcceptedRun()
    await run.callBack(callbackUrl, { error: { message: 'Not now.', retryable: true } })
    expect(await run.process(true)).toMatchObject('processed' as never)
    expect(remote.asked).toHaveLength(1)
    run.passTime(60_000)
    await run.process()
    const second = remote.asked[1]?.body.callbackUrl
    expect(second).not.toBe(callbackUrl)
    expect(remote.asked).toHaveLength(2)
    await run.callBack(second, { error: { message: 'Never.' } })
    await run.process(true)
    expect((await run.stored()).error).toEqual({ code: 'AgentFailed', message: 'Never.' })
  })

  it.each([[{}], [{ output: {}, error: { message: 'x' } }], [{ error: 'x' }], [{ result: 1 }]])(
    'must deliver an output or an error, not %j',
    async (data) => {
      const { run, callbackUrl } = await anAcceptedRun()
      await expect(run.callBack(callbackUrl, data)).rejects.toMatchObject({ code: 'InputSchemaMismatch' })
    },
  )

  it('cannot answer for another execution, nor can a signal', async () => {
    const [one, other] = [await anAcceptedRun(), await anAcceptedRun()]
    const forged = one.callbackUrl?.replace(one.run.id, other.run.id)
    const output = { output: { answer: 'Forged.' } }
    await expect(other.run.callBack(forged, output)).rejects.toMatchObject({ code: 'ExecutionNotFound' })
    const { engine, organizationId, id } = other.run
    const access = { ...ANONYMOUS, organizationId }
    const signal = { name: 'callback~1', data: output, executionId: id, access }
    await expect(sendSignal(engine, signal)).rejects.toMatchObject({ code: 'BadRequest' })
    expect((await other.run.stored()).suspension).not.toBeNull()
  })

  it('is not asked again if its callback came although its answer was lost', async () => {
    const remote = await aRemote(async (response, { body }) => {
      await run.callBack(body.callbackUrl, { output: { answer: 'Done.' } })
      response.destroy()
    })
    const run = await aRemoteRun(remote)
    await run.process()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'Done.' } })
    expect(remote.asked).toHaveLength(1)
  })

  it('must not without a public URL', async () => {
    const { run } = await anAcceptedRun({}, { environment: {} })
    expect((await run.stored()).error).toMatchObject({
      code: 'AgentFailed',
      message: expect.stringContaining('publicUrl'),
    })
  })

  it('shows no secret that its callback repeats', async () => {
    const options = {
      remote: { headers: { 'X-Key': `\${secret:KEY}` } },
      environment: { KEY: 'top-secret-1', PUBLIC_URL: 'https://service.example' },
    }
    const { run, callbackUrl } = await anAcceptedRun({}, options)
    await run.callBack(callbackUrl, { output: { answer: 'It is top-secret-1.' } })
    await run.process(true)
    expect((await run.stored()).output).toEqual({ answer: 'It is [secret KEY].' })
    const [{ results } = { results: new Map() }] = await run.steps()
    expect(JSON.stringify([...results])).not.toContain('top-secret')
  })

  it.each([
    [true, 1],
    [false, 0],
  ])('is told of a cancel if it asked for that: %s', async (cancel, told) => {
    const { run, remote, callbackUrl } = await anAcceptedRun({ cancel })
    const messages: DeliveryMessage[] = []
    const queue = { send: async (message: DeliveryMessage) => void messages.push(message) }
    const { stores } = run
    const marked = withOutbox(stores, { queue, system })
    const { organizationId, id } = run
    await endExecution({ ...stores, ...marked, system }, { organizationId, id, error: CANCELLED })
    expect(messages).toEqual([{ subject: { kind: 'execution', id }, organizationId }])
    const records = { toRecord: () => ({}), toSummary: () => ({}), toBatchRecord: () => ({}) }
    const delivery = openDeliveryEngine({ ...stores, ...records, queue, system } as never)
    for (const message of messages) await deliverEvents(delivery as never, message)
    for (const message of messages) await deliverEvents(delivery as never, message)
    const cancels = remote.asked.filter(({ path }) => path === '/agent/cancel')
    expect(cancels).toHaveLength(told)
    const key = { organizationId, id: DEFAULT_WEBHOOK }
    const [{ secret } = { secret: '' }] = await stores.webhooks.getSecrets(key)
    const expected = { executionId: id, type: 'cancel' }
    for (const { text, headers } of cancels)
      expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toEqual(expected)
    await expect(run.callBack(callbackUrl, { output: { answer: 'x' } })).rejects.toMatchObject({
      code: 'ExecutionEnded',
    })
  })
})
