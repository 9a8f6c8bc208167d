import { beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { runHostile } from './run-hostile.ts'

let version: Version
beforeAll(async () => {
  version = await (await newOrganization()).publish('hostile')
})

const resultOf = async (...parameters: Parameters<typeof runHostile>) =>
  (await runHostile(...parameters)).output?.result

describe('a warm thread', () => {
  it('executes the next run of its version, tenant and environment', async () => {
    const options = { tenantId: 'acme' }
    expect(await resultOf(version, 'runs of thread', options)).toBe('1')
    expect(await resultOf(version, 'runs of thread', options)).toBe('2')
  })

  it('executes no run of another version of its agent', async () => {
    const org = await newOrganization()
    const first = await org.publish('hostile')
    const second = await org.publish('hostile', { title: 'Changed' })
    expect(await resultOf(first, 'runs of thread')).toBe('1')
    expect(await resultOf(second, 'runs of thread')).toBe('1')
    expect(await resultOf(first, 'runs of thread')).toBe('2')
  })

  it('executes no run of another organization with the same code', async () => {
    const others = await Promise.all([newOrganization(), newOrganization()])
    for (const org of others) expect(await resultOf(await org.publish('hostile'), 'runs of thread')).toBe('1')
  })

  it.each([
    ['another tenant', 'globex'],
    ['no tenant', undefined],
  ])('executes no run of %s', async (_, other) => {
    const own = await (await newOrganization()).publish('hostile')
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
      const own = await (await newOrganization()).publish('hostile')
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
    expect(await resultOf(version, 'late rejection', { tenantId: 'late' })).toBe('prepared')
    const { status, error } = await runHostile(version, 'wake what an earlier run left', { tenantId: 'late' })
    expect({ status, error }).toEqual({ status: 'SUCCESS', error: null })
  })

  it('does not end the next run because of an error between the two', async () => {
    for (let n = 0; n < 20; n++) {
      const tenantId = `between ${n % 4}`
      await runHostile(version, 'late error of a callback', { tenantId })
      expect((await runHostile(version, 'runs of thread', { tenantId })).status).toBe('SUCCESS')
    }
  })
})
