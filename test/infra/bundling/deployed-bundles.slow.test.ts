import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { GRANTS, getAuditPrefix, getUpdatedPrefix } from '../../../infra/functions/grants.ts'
import { type Calls, startCallRecorder } from '../functions/call-recorder.ts'
import { findResource, synthesize } from '../synthesize.ts'
import { provisionStack } from './deploy-release.ts'
import { describeDeployedFunctions } from './deployed-functions.ts'

/** Where the example is synthesized: bundling takes long, and an app does it like the stack. */
const outdir = mkdtempSync(join(tmpdir(), 'aes-deployed-'))
const bundles = join(outdir, 'functions')
let recorder: Awaited<ReturnType<typeof startCallRecorder>>

describeDeployedFunctions(async () => {
  const env = { ...process.env, CDK_OUTDIR: outdir }
  const [stack] = await Promise.all([
    provisionStack(),
    promisify(execFile)(process.execPath, ['examples/cdk/app.ts'], { env }),
  ])
  const { DYNAMODB_ENDPOINT: dynamodb, SQS_ENDPOINT: sqs } = stack.endpoints
  recorder = await startCallRecorder({ dynamodb, sqs })
  const endpoints = new Map(
    await Promise.all(FUNCTION_NAMES.map(async (name) => [name, await recorder.endpointsOf(name)] as const)),
  )
  const deployment = stack.deploy({ bundles, template: synthesize({ httpPublishing: true }) })
  return {
    ...deployment,
    functionOf: (name) => {
      const { asset, environment } = deployment.functionOf(name)
      return { asset, environment: { ...environment, ...endpoints.get(name) } }
    },
    stop: async () => {
      await recorder.stop()
      await deployment.stop()
      rmSync(outdir, { recursive: true })
    },
  }
})

// In the night, `grants.test.ts` takes every path, and finds grants that no call needs, too.
it.each(FUNCTION_NAMES)('%s made no call without a grant', (name) => {
  const { table, indexes = [], queue = [], deliveryQueue = [] } = GRANTS[name]
  const [updated, audited] = [getUpdatedPrefix(name), getAuditPrefix(name)].map((prefix) =>
    [prefix ?? []].flat(),
  )
  const granted: Partial<Record<keyof Calls, unknown>> = {
    table,
    updated,
    audited,
    indexes,
    queue,
    deliveryQueue,
  }
  const calls = recorder.callsOf(name)
  for (const [kind, names] of Object.entries(granted))
    expect(names, kind).toEqual(expect.arrayContaining(calls[kind as keyof Calls]))
})

describe('examples/cdk/app.ts', () => {
  const readTemplate = () =>
    Template.fromJSON(JSON.parse(readFileSync(join(outdir, 'Shop.template.json'), 'utf8')))

  it('has the service, whose functions it bundled, next to its own resources', () => {
    const template = readTemplate()
    template.hasResourceProperties('AWS::Lambda::Function', { FunctionName: 'agent-tool-find-order' })
    template.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length + 1)
    expect(findResource(template, 'AWS::ApiGateway::RestApi').Properties.Name).toBe('shop-agents')
    for (const name of FUNCTION_NAMES) expect(existsSync(join(bundles, name, 'index.mjs')), name).toBe(true)
  })

  it('sends every alarm to its topic, and has the URL as output', () => {
    const template = readTemplate()
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'))
    expect(alarms.length).toBeGreaterThan(0)
    for (const { Properties } of alarms)
      expect(Properties.AlarmActions).toContainEqual({ Ref: expect.stringMatching(/^Pager/) })
    expect(JSON.stringify(template.findOutputs('AgentsUrl'))).toContain('.execute-api.')
  })
})
