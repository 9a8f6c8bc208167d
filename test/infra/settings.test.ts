import { readFileSync } from 'node:fs'
import { App } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { describe, expect, it } from 'vitest'
import { readSettings, type Settings, STACK_SETTINGS } from '../../infra/settings.ts'
import { allowedOf } from '../../lib/contract/parse-settings.ts'
import { SETTINGS } from '../../lib/contract/settings/table.ts'
import { documentSettings } from '../support/document-settings.ts'
import { ALL_OPTIONS } from './all-options.ts'
import { readSection } from './read-section.ts'

const { context: CONTEXT } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))

const read = (context: Record<string, unknown> = {}) => readSettings(new App({ context }).node)
const names = Object.keys(STACK_SETTINGS) as (keyof Settings)[]
const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/0e1f-2a'

describe('readSettings', () => {
  it('returns the defaults for an empty context', () => {
    const defaults = Object.fromEntries(names.map((name) => [name, STACK_SETTINGS[name].default]))
    expect(read()).toEqual(defaults)
    expect(read(Object.fromEntries(names.map((name) => [name, '']))), 'empty values').toEqual(defaults)
  })

  it('finds no setting in cdk.json, which has flags of the CDK', () => {
    expect(Object.keys(CONTEXT).filter((key) => key in SETTINGS)).toEqual([])
    expect(read(CONTEXT)).toEqual(read())
  })

  it('has the retention periods of CloudWatch Logs, except "never expire"', () => {
    const periods = Object.values(RetentionDays).filter((days) => typeof days === 'number')
    expect(SETTINGS.logRetentionDays.values).toEqual(
      periods.filter((days) => days !== RetentionDays.INFINITE),
    )
  })

  it.each([
    ['stackName', 'staging-2', 'staging-2'],
    ['responseStreaming', 'false', false],
    ['corsOrigins', '*', '*'],
    ['corsOrigins', 'https://a.example, http://b:5173', 'https://a.example, http://b:5173'],
    ['defaultModel', 'openai/gpt-5:high', 'openai/gpt-5:high'],
    ['modelPrices', '{"openai/*":{"input":1,"output":2}}', '{"openai/*":{"input":1,"output":2}}'],
    ['maxOpenExecutions', '7', 7],
    ['throttlingBurst', '1000000', 1_000_000],
    ['executionRetentionDays', '1', 1],
    ['executionRetentionDays', 3650, 3650],
    ['runnerConcurrency', 2, 2],
    ['logRetentionDays', '3653', 3653],
    ['publicUrl', 'https://api.example.com/live/', 'https://api.example.com/live/'],
    ['publicUrl', 'http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['eventBus', 'team.events_1', 'team.events_1'],
    ['anthropicKeyParameter', 'anthropic.key', 'anthropic.key'],
  ] as const)('accepts %s %j', (name, value, expected) => {
    expect(read({ [name]: value })[name]).toBe(expected)
  })

  it('accepts the names of endpoints in other settings', () => {
    const modelEndpoints = '{"groq":{"baseUrl":"https://a/v1"}}'
    const modelPrices = '{"groq/*":{"input":1,"output":2}}'
    const context = { defaultModel: 'groq/llama:low', modelPrices }
    expect(read({ ...context, modelEndpoints })).toMatchObject(context)
    expect(() => read(context)).toThrow(/modelPrices: .*"groq\/\*" has no known provider/)
    expect(() => read(context)).toThrow(/defaultModel: "groq\/llama:low"\. .*with one of bedrock, /)
  })

  it('rejects endpoints without showing them', () => {
    const modelEndpoints = '{"groq":{"baseUrl":"https://a/v1","apiKey":"sk-hidden"}}'
    const message =
      /^Invalid context value modelEndpoints\. Allowed: .*"groq\.apiKey" must be a secret reference/
    expect(() => read({ modelEndpoints })).toThrow(message)
    expect(() => read({ modelEndpoints })).not.toThrow('hidden')
  })

  it.each<[keyof Settings, unknown]>([
    ['stackName', 'my stack'],
    ['stackName', 'a'.repeat(101)],
    ['stageName', 'a/b'],
    ['responseStreaming', 'of'],
    ['corsOrigins', 'https://a.example/path'],
    ['corsOrigins', "https://a'b.example"],
    ['tableName', 'a/b'],
    ['warmWriteUnits', 3_999],
    ['defaultModel', 'gpt-5'],
    ['modelPrices', '{"openai/gpt-5": 1}'],
    ['maxOpenExecutions', 0],
    ['maxWaitDays', 366],
    ['eventBus', 'arn:aws:events:eu-west-1:123456789012:rule/x'],
    ['publicUrl', 'http://api.example.com'],
    ['publicUrl', 'http://127.0.0.1.example.com'],
    ['publicUrl', 'https://api.example.com?a=1'],
    ['oidcIssuer', 'http://login.example.com'],
    ['oidcIssuer', 'https://login.example.com?a=1'],
    ['oidcIssuer', `https://login.example.com/${'a'.repeat(255)}`],
    ['oidcAudience', 'a,,b'],
    ['oidcAudience', 'a\nb'],
    ['oidcMapping', '{"organization":"acme","scopes":["run"]}'],
    ['oidcClientId', 'a\nb'],
    ['oidcScope', 'a  b'],
    ['oidcTokenOrigin', 'https://token.example.com/'],
    ['oidcTokenOrigin', "https://token.example.com; script-src 'unsafe-inline'"],
    ['largeBodyMbPerMinute', 5],
    ['throttlingRate', '-1'],
    ['executionRetentionDays', 0],
    ['runnerConcurrency', 1],
    ['runnerBatch', 11],
    ['agentMemoryMb', 128],
    ['runnerInstanceVcpus', 11],
    ['subnetIds', 'subnet-0123456789abcdef0 subnet-1123456789abcdef0'],
    ['subnetIds', 'subnet-01234567,subnet-01234567'],
    ['securityGroupIds', 'subnet-01234567'],
    ['logRetentionDays', 31],
    ['alarmSubscriptions', 'ops'],
    ['domainName', 'https://agents.example.com'],
    ['certificateArn', 'arn:aws:iam::123456789012:server-certificate/x'],
    ['domainBasePath', 'a//b'],
    ['kms', 1],
    ['anthropicKeyParameter', '/team/'],
  ])('rejects %s %j and names the allowed values', (name, value) => {
    const allowed = allowedOf(STACK_SETTINGS[name]).replaceAll('`', '')
    const message = `Invalid context value ${name}: "${value}". Allowed: ${allowed}.`
    expect(() => read({ [name]: value })).toThrow(message)
  })

  it('lists the values of a setting that has few', () => {
    expect(() => read({ deployment: 'canary' })).toThrow('Allowed: allAtOnce, canary10Percent5Minutes')
  })

  it('reports all invalid values, with what is wrong within one', () => {
    const context = { stageName: 'a/b', kms: 1, modelPrices: '{"openai/gpt-5":{"input":1,"outptu":1}}' }
    expect(() => read(context)).toThrow(
      /stageName: "a\/b"\..*\n.* modelPrices: .*unknown rate "outptu".*\n.* kms: "1"/,
    )
  })
})

const IDENTITY = {
  oidcIssuer: 'https://login.example.com/',
  oidcAudience: 'https://agents.example.com, api://agents',
  oidcMapping: '{"organization":"0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48","scopes":["run"]}',
}

describe('rejected combinations', () => {
  it.each([
    [
      { domainName: 'agents.example.com' },
      'Invalid settings: set both domainName and certificateArn, or neither.',
    ],
    [{ certificateArn }, 'Invalid settings: set both domainName and certificateArn, or neither.'],
    [
      { alarmSubscriptions: 'ops@example.com', monitoring: false },
      'alarmSubscriptions requires monitoring=true',
    ],
    [
      { eventBus: 'a', executionRetentionDays: 4 },
      'eventBus requires executionRetentionDays to be at least 5',
    ],
    [{ provisionedReadUnits: 5 }, 'set both provisionedReadUnits and provisionedWriteUnits'],
    [
      { provisionedReadUnits: 5, provisionedWriteUnits: 5, maxReadUnits: 4 },
      'maxReadUnits must not be less than provisionedReadUnits',
    ],
    [
      {
        modelPrices: JSON.stringify({ [`openai/${'x'.repeat(180)}`]: { input: 1, output: 1 } }),
        modelEndpoints: JSON.stringify({ a: { baseUrl: `https://a/${'x'.repeat(2_400)}` } }),
      },
      'modelPrices and modelEndpoints may have 2500 characters together',
    ],
    [{ oidcAudience: 'a' }, 'set all of oidcIssuer, oidcAudience and oidcMapping, or none.'],
    [{ ...IDENTITY, oidcMapping: '' }, 'set all of oidcIssuer, oidcAudience and oidcMapping, or none.'],
    [{ oidcClientId: 'console' }, 'oidcClientId requires oidcIssuer.'],
    [{ ...IDENTITY, oidcScope: 'openid' }, 'oidcScope requires oidcClientId.'],
    [{ ...IDENTITY, oidcTokenOrigin: 'https://a' }, 'oidcTokenOrigin requires oidcClientId.'],
    [{ vpcId: 'vpc-01234567' }, 'set both vpcId and subnetIds, or neither.'],
    [{ runnerInstanceVcpus: 24 }, 'runnerInstanceVcpus requires vpcId and subnetIds'],
    [{ securityGroupIds: 'sg-01234567' }, 'securityGroupIds requires vpcId and subnetIds.'],
    [{ deployment: 'linear10PercentEvery1Minute', monitoring: false }, 'requires monitoring=true'],
    [{ domainBasePath: 'agents' }, 'domainBasePath requires domainName'],
    [{ disableExecuteApiEndpoint: true }, 'disableExecuteApiEndpoint=true requires domainName'],
  ])('%j', (context, message) => {
    expect(() => read(context)).toThrow(message)
  })
})

describe('ALL_OPTIONS of the tests', () => {
  it('has every setting with a value other than its default, except those of which the default adds more', () => {
    const values = read(ALL_OPTIONS)
    const unchanged = names.filter((name) => values[name] === read()[name])
    expect(unchanged.sort()).toEqual(['cloudWatchRole', 'monitoring', 'responseStreaming', 'stackName'])
  })
})

describe('unknown context keys', () => {
  it.each([
    ['stakName', 'stackName'],
    ['stack-name', 'stackName'],
    ['DefaultModel', 'defaultModel'],
  ])('are rejected: %s, for %s', (key, name) => {
    expect(() => read({ [key]: 'x' })).toThrow(`Unknown context key ${key}; did you mean ${name}?`)
  })

  it('are rejected with all settings if none is similar, even with an empty value', () => {
    const message = `Unknown context key zebra; the settings are ${names.join(', ')}.`
    expect(() => read({ zebra: '' })).toThrow(message)
  })

  it('are reported together', () => {
    expect(() => read({ stakName: 1, monitorng: 1 })).toThrow(/stackName\?\n.*monitoring\?/)
  })

  it.each([
    '@aws-cdk/core:newFlag',
    'aws:cdk:enable-path-metadata',
    'availability-zones:account=123456789012:region=eu-central-1',
    'cli-telemetry',
    'acknowledged-issue-numbers',
  ])('of the CDK are accepted: %s', (key) => {
    expect(() => read({ [key]: true })).not.toThrow()
  })
})

describe('docs/settings.md', () => {
  it('lists every setting with its default, allowed values and description', () => {
    const listed = readSection('settings.md', 'Stack')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    expect(listed).toEqual(documentSettings(STACK_SETTINGS))
  })
})
