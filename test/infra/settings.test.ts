import { readFileSync } from 'node:fs'
import { App } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { readSettings, SETTINGS, type Setting, type Settings } from '../../infra/settings.ts'
import { readSection } from './operations.ts'

const { context: CONTEXT } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))

const read = (context: Record<string, unknown> = {}) => readSettings(new App({ context }).node)
const names = Object.keys(SETTINGS) as (keyof Settings)[]
const settings: [string, Setting<unknown>][] = Object.entries(SETTINGS)
const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/0e1f-2a'

describe('readSettings', () => {
  it('returns the defaults for an empty context', () => {
    const defaults = Object.fromEntries(settings.map(([name, setting]) => [name, setting.default]))
    expect(read()).toEqual(defaults)
    expect(read(Object.fromEntries(names.map((name) => [name, '']))), 'empty values').toEqual(defaults)
  })

  it('finds every setting with its default in cdk.json', () => {
    expect(Object.keys(CONTEXT)).toEqual(expect.arrayContaining(names))
    expect(read(CONTEXT)).toEqual(read())
  })

  it.each([
    ['stageName', 'v-1_b', 'v-1_b'],
    ['responseStreaming', 'false', false],
    ['responseStreaming', true, true],
    ['corsOrigins', '*', '*'],
    ['corsOrigins', 'https://a.example, http://b:5173', 'https://a.example, http://b:5173'],
    ['defaultModel', 'openai/gpt-5:high', 'openai/gpt-5:high'],
    ['maxOpenExecutions', '7', 7],
    ['throttlingRate', 1, 1],
    ['throttlingBurst', '1000000', 1_000_000],
    ['executionRetentionDays', '2', 2],
    ['executionRetentionDays', 3650, 3650],
    ['runnerConcurrency', 2, 2],
    ['runnerConcurrency', '1000', 1_000],
    ['runnerBatch', '10', 10],
    ['agentMemoryMb', 512, 512],
    ['logRetentionDays', '3653', 3653],
    ['watching', 'false', false],
    ['alarmEmail', 'ops@example.com', 'ops@example.com'],
    ['webAcl', 'true', true],
    ['kms', true, true],
    ['openaiKeyParameter', '/team/openai', '/team/openai'],
    ['anthropicKeyParameter', 'anthropic.key', 'anthropic.key'],
  ] as const)('accepts %s %j', (name, value, expected) => {
    expect(read({ [name]: value })[name]).toBe(expected)
  })

  it('accepts a domain with its certificate', () => {
    const domainName = 'agents.example.com'
    expect(read({ domainName, certificateArn })).toMatchObject({ domainName, certificateArn })
  })

  it.each<[keyof Settings, unknown]>([
    ['stageName', 'a/b'],
    ['responseStreaming', 'of'],
    ['corsOrigins', 'a.example'],
    ['corsOrigins', 'https://a.example/path'],
    ['defaultModel', 'gpt-5'],
    ['maxOpenExecutions', 0],
    ['maxOpenExecutions', 1.5],
    ['throttlingRate', '-1'],
    ['throttlingBurst', '1e3'],
    ['executionRetentionDays', 1],
    ['executionRetentionDays', 'for ever'],
    ['runnerConcurrency', 1],
    ['runnerBatch', 0],
    ['runnerBatch', 11],
    ['agentMemoryMb', 128],
    ['agentMemoryMb', '1GB'],
    ['runnerConcurrency', 1001],
    ['logRetentionDays', 31],
    ['logRetentionDays', 9999],
    ['alarmEmail', 'ops'],
    ['domainName', 'https://agents.example.com'],
    ['certificateArn', 'arn:aws:iam::123456789012:server-certificate/x'],
    ['webAcl', 'yes'],
    ['kms', 1],
    ['openaiKeyParameter', 'sk-key with spaces'],
    ['anthropicKeyParameter', '/team/'],
  ])('rejects %s %j and names the allowed values', (name, value) => {
    const allowed = SETTINGS[name].allowed.replaceAll('`', '')
    const message = `Invalid context value ${name}: "${value}". Allowed: ${allowed}.`
    expect(() => read({ [name]: value })).toThrow(message)
  })

  it.each([{ domainName: 'agents.example.com' }, { certificateArn }])('rejects %j alone', (context) => {
    expect(() => read(context)).toThrow(
      'Invalid context: set both domainName and certificateArn, or neither.',
    )
  })
})

describe('docs/operations.md', () => {
  it('lists every setting with its default, allowed values and description', () => {
    const rows = settings.map(([name, setting]) => {
      const shown = setting.default === null ? 'none' : `\`${setting.default}\``
      return `| \`${name}\` | ${shown} | ${setting.allowed} | ${setting.description} |`
    })
    const listed = readSection('Settings')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    expect(listed).toEqual(rows)
  })
})
