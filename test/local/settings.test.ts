import { describe, expect, it } from 'vitest'
import type { SettingName } from '../../lib/contract/settings/table.ts'
import { readSetting, variableOf } from '../../lib/environment.ts'
import { LOCAL_SETTINGS, readLocalSettings } from '../../local/settings.ts'
import { readSection } from '../infra/read-section.ts'
import { documentSettings } from '../support/document-settings.ts'

const warningsOf = (environment: Record<string, string>) => readLocalSettings(environment).warnings

describe('readLocalSettings', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'my-host'])('warns of HOST=%s', (HOST) => {
    expect(warningsOf({ HOST })).toEqual([expect.stringContaining(`HOST is ${HOST}:`)])
  })

  it.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1', ''])('does not warn of HOST=%s', (HOST) => {
    expect(warningsOf({ HOST })).toEqual([])
  })

  it.each(['secret-token', 'a'.repeat(60), 'abcdefghijklmnopqrstuvwxyz'])(
    'warns of DEV_TOKEN=%s, without showing it',
    (token) => {
      const warnings = warningsOf({ DEV_TOKEN: token })
      expect(warnings).toEqual([expect.stringContaining('DEV_TOKEN can be guessed')])
      expect(warnings.join()).not.toContain(token)
    },
  )

  it('warns of endpoints whose secret is missing', () => {
    const MODEL_ENDPOINTS = `{"groq":{"baseUrl":"https://a/v1","apiKey":"\${secret:GROQ_KEY}"}}`
    const warning = 'MODEL_ENDPOINTS: the models of groq cannot be used: the secret GROQ_KEY is not set.'
    expect(warningsOf({ MODEL_ENDPOINTS })).toEqual([warning])
    expect(warningsOf({ MODEL_ENDPOINTS, GROQ_KEY: 'k', DEFAULT_MODEL: 'groq/llama' })).toEqual([])
    expect(() => warningsOf({ MODEL_ENDPOINTS, DEFAULT_MODEL: 'groq/llama' })).toThrow(
      'DEFAULT_MODEL: Cannot use the model groq/llama: the secret GROQ_KEY of the endpoint groq is not set.',
    )
  })

  it('reads the variables of the OpenTelemetry SDKs as the settings of traces', () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://localhost:4318'
    const sent = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret' }
    const { defaults } = readLocalSettings({ ...sent, OTEL_TRACES_SAMPLER_ARG: '0.005' })
    expect(defaults).toMatchObject({
      OTLP_ENDPOINT: 'http://localhost:4318',
      OTLP_PROTOCOL: 'http/protobuf',
      OTLP_HEADERS: 'OTEL_EXPORTER_OTLP_HEADERS',
      OTLP_SAMPLE_PERCENT: '1',
    })
    expect(JSON.stringify(defaults)).not.toContain('secret')
    for (const unsent of [{ ...sent, OTEL_TRACES_SAMPLER_ARG: '0' }, {}])
      expect(readLocalSettings(unsent).defaults.OTLP_ENDPOINT).toBeUndefined()
    expect(() => readLocalSettings({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; it must be http/protobuf, http/json.',
    )
    expect(() => readLocalSettings({ OTEL_TRACES_SAMPLER_ARG: '1.5' })).toThrow('a number from 0 to 1')
    expect(() => readLocalSettings({ ...sent, EXECUTION_RETENTION_DAYS: '4' })).toThrow(
      'OTEL_EXPORTER_OTLP_ENDPOINT requires EXECUTION_RETENTION_DAYS to be at least 5',
    )
  })

  it('rejects a PUBLIC_URL without TLS, without showing its password', () => {
    expect(() => readLocalSettings({ PUBLIC_URL: 'http://ann:pw@tunnel.example.com' })).toThrow(
      /^PUBLIC_URL must be an https URL [^@]*; http for this machine\.$/,
    )
    expect(readLocalSettings({}).defaults.PUBLIC_URL).toBeUndefined()
  })

  it('has the defaults of an empty environment, also for empty variables', () => {
    const settings = { host: '127.0.0.1', port: 3000, devToken: undefined, corsOrigins: [], logLevel: 'WARN' }
    expect(readLocalSettings({})).toMatchObject(settings)
    expect(readLocalSettings({ PORT: '', HOST: '', LEASE_SECONDS: '' })).toMatchObject(settings)
    expect(readLocalSettings({}).times.leaseMs).toBe(10_000)
    expect(LOCAL_SETTINGS.agentMemoryMb.default).toBe(readSetting('agentMemoryMb', {}))
  })

  it.each([
    [
      'PORT',
      '65536',
      'PORT is "65536"; it must be an integer between 0 and 65535 (0 selects any free port).',
    ],
    ['HTTP_PUBLISHING', 'of', 'HTTP_PUBLISHING is "of"; it must be on or off.'],
    ['SQS_ENDPOINT', 'ftp://user:secret@host', /^SQS_ENDPOINT must be an http or https URL\.$/],
  ])('rejects %s=%s', (name, value, message) => {
    expect(() => readLocalSettings({ [name]: value })).toThrow(message)
  })
})

describe('EVENT_BUS', () => {
  it('rejects what is no bus, and executions that are deleted before their events are delivered', () => {
    expect(() => readLocalSettings({ EVENT_BUS: 'a/b' })).toThrow(/^EVENT_BUS must be the name or the ARN/)
    const early = { EVENT_BUS: 'events', EXECUTION_RETENTION_DAYS: '4' }
    expect(() => readLocalSettings(early)).toThrow(
      'EVENT_BUS requires EXECUTION_RETENTION_DAYS to be at least 5',
    )
  })
})

describe('the identity provider', () => {
  const IDENTITY = {
    OIDC_ISSUER: 'http://localhost:4000',
    OIDC_AUDIENCE: 'a, b',
    OIDC_MAPPING: '{"organization":"0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48","scopes":["run"]}',
  }

  it('is accepted as a whole', () => {
    expect(() => readLocalSettings({ ...IDENTITY, OIDC_CLIENT_ID: 'console' })).not.toThrow()
  })

  it.each(Object.keys(IDENTITY))('is rejected without %s', (name) => {
    expect(() => readLocalSettings({ ...IDENTITY, [name]: '' })).toThrow(
      'Invalid settings: set all of OIDC_ISSUER, OIDC_AUDIENCE and OIDC_MAPPING, or none.',
    )
  })

  it('is required for a client, and its issuer needs TLS', () => {
    expect(() => readLocalSettings({ OIDC_CLIENT_ID: 'console' })).toThrow(
      'OIDC_CLIENT_ID requires OIDC_ISSUER.',
    )
    expect(() => readLocalSettings({ ...IDENTITY, OIDC_ISSUER: 'http://ann:pw@login.example' })).toThrow(
      /^OIDC_ISSUER must be the iss of the tokens: an https URL [^@]*; http for this machine\.$/,
    )
    expect(() => readLocalSettings({ ...IDENTITY, OIDC_MAPPING: '{"organisation":"a"}' })).toThrow(
      'OIDC_MAPPING: organisation is unknown.',
    )
  })
})

describe('docs/settings.md', () => {
  it('lists every setting with its default, allowed values and description', () => {
    const listed = readSection('settings.md', 'npm start')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    expect(listed).toEqual(documentSettings(LOCAL_SETTINGS, (name) => variableOf(name as SettingName)))
  })
})
