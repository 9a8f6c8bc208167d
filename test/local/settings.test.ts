import { describe, expect, it } from 'vitest'
import { system } from '../../lib/system.ts'
import { newToken } from '../../lib/tokens/token.ts'
import { readLocalSettings } from '../../local/settings.ts'

const warningsOf = (environment: Record<string, string>) => readLocalSettings(environment).warnings

describe('readLocalSettings', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'my-host'])('warns of HOST=%s', (HOST) => {
    expect(warningsOf({ HOST })).toEqual([expect.stringContaining(`HOST is ${HOST}:`)])
  })

  it.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1', ''])('does not warn of HOST=%s', (HOST) => {
    expect(warningsOf({ HOST })).toEqual([])
  })

  it.each([
    'dev',
    'secret-token',
    'a'.repeat(60),
    '12345678901234567890123456',
    'abcdefghijklmnopqrstuvwxyz',
  ])('warns of DEV_TOKEN=%s, without showing it', (token) => {
    const warnings = warningsOf({ DEV_TOKEN: token })
    expect(warnings).toEqual([expect.stringContaining('DEV_TOKEN can be guessed')])
    expect(warnings.join()).not.toContain(token)
  })

  it('does not warn of random tokens', () => {
    const { text } = newToken({ system, organizationId: 'a', name: 'a', createdBy: 'a', lifetimeMs: null })
    for (const token of [text, '9f86d081884c7d659a2feaa0c55ad015', 'Zk3v9Qm2Xc7Lr5Tn8Wp1Hg'])
      expect(warningsOf({ DEV_TOKEN: token })).toEqual([])
  })
})
