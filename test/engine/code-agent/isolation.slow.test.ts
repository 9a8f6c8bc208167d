import { afterAll, afterEach, describe, expect, inject, it, vi } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { newOrganization, publishFixture } from '../../support/engine/organization.ts'
import { engineTable } from '../../support/tables/memory-table.ts'
import { resultOf, runHostile, hostile as version } from './run-hostile.ts'

/** How often an error of one run meets the next one. */
const ROUNDS = inject('isNightly') ? 20 : 8

/** Credentials, and names of resources of the stack. */
const VARIABLES = [
  ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_LAMBDA_RUNTIME_API'],
  ...['TABLE_NAME', 'QUEUE_URL', 'MODEL_QUEUE_URL', 'DELIVERY_QUEUE_URL', 'EVENT_BUS', 'SECRETS_PREFIX'],
  ...['OPENAI_API_KEY', 'MODEL_ENDPOINTS'],
]

let ticks = 0
const ticking = setInterval(() => ticks++, 5)
afterAll(() => clearInterval(ticking))
afterEach(() => void vi.unstubAllEnvs())

const run = (how: string, overrides: Partial<Version> = {}) => runHostile({ ...version, ...overrides }, how)

describe('a code agent', () => {
  it.each([
    ['process.exit', 'AgentFailed', 'process.exit(0)'],
    ['heap', 'AgentFailed', 'memory limit of 64 MB'],
    ['unhandled rejection', 'AgentFailed', 'nobody handles this'],
    ['rejection without waiting', 'AgentFailed', 'nobody awaits this'],
    ['deep recursion', 'AgentFailed', 'Maximum call stack size exceeded'],
  ])('that does "%s" ends in ERROR %s without an effect on this process', async (how, code, message) => {
    const { status, error, attempts } = await run(how)
    expect({ status, attempts, code: error?.code }).toEqual({ status: 'ERROR', attempts: 1, code })
    expect(error?.message).toContain(message)
  })

  it.each(['busy loop', 'never settles'])('in a %s is stopped at its time limit', async (how) => {
    const before = ticks
    const startedAt = performance.now()
    const { error } = await run(how, { execution: { ...version.execution, timeoutSeconds: 1 } })
    expect(error).toMatchObject({ code: 'TimedOut', message: expect.stringContaining('1 second') })
    // The event loop of the worker went on.
    expect(ticks - before).toBeGreaterThan((performance.now() - startedAt) / 5 / 20)
  })

  it('whose output is far too large ends in ERROR', async () => {
    const { error } = await run('1 GB output')
    expect(['OutputTooLarge', 'AgentFailed']).toContain(error?.code)
  })

  it('with an error of 500 kB ends with the start of it, and its place in its own source', async () => {
    const { error } = await run('500 kB error')
    expect(error).toMatchObject({ code: 'AgentFailed', at: expect.stringMatching(/^agent\.ts:\d+:\d+/) })
    expect(error?.message.length).toBeLessThanOrEqual(4_000)
    expect(error?.stack).toContain('agent.ts')
  })

  it.each(['leaked timers', 'patched globals'])('with %s does not affect later runs', async (how) => {
    for (let n = 0; n < 3; n++) {
      expect(await run(how)).toMatchObject({ status: 'SUCCESS' })
      expect((await run('observe')).output).toEqual({ result: '{"a":[2]},' })
    }
  })

  it('with a patched class of fetch does not affect later runs', async () => {
    for (let n = 0; n < 3; n++) {
      expect((await run('observe class of fetch')).output).toEqual({ result: 'json' })
      expect(await run('patched class of fetch')).toMatchObject({ status: 'SUCCESS' })
    }
  })

  it('with an open message port loses its thread', async () => {
    for (let n = 0; n < 3; n++)
      expect((await run('message port that is kept')).output).toEqual({ result: '1' })
  })

  it.each(['500 kB error', 'rejection without waiting'])(
    'loses its thread after an error: %s',
    async (how) => {
      const own = await publishFixture('hostile')
      const { output: first } = await run('thread', own)
      expect((await run('thread', own)).output).toEqual(first)
      expect(await run(how, own)).toMatchObject({ status: 'ERROR' })
      expect((await run('thread', own)).output).not.toEqual(first)
    },
  )

  it('sees of the environment NODE_ENV, TZ and what its document lists', async () => {
    const seen = JSON.parse(String((await run('environment')).output?.result))
    expect(seen).toEqual({ TZ: 'UTC', SECRET_KEY: 'sk-of-the-shop' })
  })

  it.each(['environment', 'environment of a child', 'environment in a report', 'environment of a worker'])(
    'on Lambda sees no credentials, and no name of a resource of the stack: %s',
    async (how) => {
      for (const name of VARIABLES) vi.stubEnv(name, `canary-${name}`)
      const own = await publishFixture('hostile')
      const { status, output } = await run(how, own)
      expect(status).toBe('SUCCESS')
      expect(String(output?.result).match(/canary-[\w-]+/g)).toBeNull()
    },
  )

  it('prints to the log of its execution only', async () => {
    expect((await run('print')).logs).toBe('printed { a: 1 } [secret SECRET_KEY]\nand to stderr\n')
    expect((await run('observe')).logs).toBeNull()
  })
})

describe('a warm thread', () => {
  it('executes the next run of its version, tenant and environment', async () => {
    const options = { tenantId: 'acme' }
    expect(await resultOf(version, 'runs of thread', options)).toBe('1')
    expect(await resultOf(version, 'runs of thread', options)).toBe('2')
  })

  it('executes no run of another version of its agent', async () => {
    const org = await newOrganization(await engineTable())
    const first = await org.publish('hostile')
    const second = await org.publish('hostile', { title: 'Changed' })
    expect(await resultOf(first, 'runs of thread')).toBe('1')
    expect(await resultOf(second, 'runs of thread')).toBe('1')
    expect(await resultOf(first, 'runs of thread')).toBe('2')
  })

  it('executes no run of another organization with the same code', async () => {
    const others = await Promise.all([1, 2].map(() => engineTable().then(newOrganization)))
    for (const org of others) expect(await resultOf(await org.publish('hostile'), 'runs of thread')).toBe('1')
  })

  it.each([
    ['another tenant', 'globex'],
    ['no tenant', undefined],
  ])('executes no run of %s', async (_, other) => {
    const own = await publishFixture('hostile')
    expect(await resultOf(own, 'runs of thread', { tenantId: 'acme' })).toBe('1')
    expect(await resultOf(own, 'runs of thread', { ...(other && { tenantId: other }) })).toBe('1')
    expect(await resultOf(own, 'runs of thread', { tenantId: 'acme' })).toBe('2')
  })

  it('executes no run with a changed secret, which is used and masked at once', async () => {
    const before = await runHostile(version, 'print')
    const environment = { SECRET_KEY: 'rotated-key-of-the-shop' }
    const after = await runHostile(version, 'print', { environment })
    for (const { logs } of [before, after]) expect(logs).toContain('printed { a: 1 } [secret SECRET_KEY]')
    expect(await resultOf(version, 'environment', { environment })).toContain('rotated-key-of-the-shop')
  })

  it.each(['detached interval that prints', 'detached wait that prints'])(
    'with a %s prints nothing of it to the logs of other runs',
    async (how) => {
      const own = await publishFixture('hostile')
      for (const tenantId of ['acme', 'globex', 'acme']) {
        await runHostile(own, how, { text: `secret of ${tenantId}`, tenantId })
        const { status, logs } = await runHostile(own, 'wait 50 ms', { tenantId })
        expect({ status, logs }).toEqual({ status: 'SUCCESS', logs: null })
      }
    },
  )

  it('prints nothing of an earlier run of the same tenant to the logs of a run', async () => {
    const tenantId = 'printing'
    await runHostile(version, 'late print', { text: 'secret of the first run', tenantId })
    const { status, logs } = await runHostile(version, 'wake what an earlier run left', { tenantId })
    expect({ status, logs }).toEqual({ status: 'SUCCESS', logs: null })
    expect(await resultOf(version, 'runs of thread', { tenantId })).toBe('1')
  })

  it('does not end a run because of an error of an earlier one', async () => {
    const tenantId = 'late'
    expect(await resultOf(version, 'late rejection', { tenantId })).toBe('prepared')
    const { status, error } = await runHostile(version, 'wake what an earlier run left', { tenantId })
    expect({ status, error }).toEqual({ status: 'SUCCESS', error: null })
  })

  it('does not end the next run because of an error between the two', async () => {
    for (let n = 0; n < ROUNDS; n++) {
      const tenantId = `between ${n % 4}`
      await runHostile(version, 'late error of a callback', { tenantId })
      expect((await runHostile(version, 'runs of thread', { tenantId })).status).toBe('SUCCESS')
    }
  })
})
