import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Template } from 'aws-cdk-lib/assertions'
import { afterAll, describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { findResource } from './synthesize.ts'

const outdir = mkdtempSync(join(tmpdir(), 'aes-example-'))
afterAll(() => rmSync(outdir, { recursive: true }))

describe('examples/cdk/app.ts', () => {
  execFileSync(process.execPath, ['examples/cdk/app.ts'], { env: { ...process.env, CDK_OUTDIR: outdir } })
  const template = Template.fromJSON(JSON.parse(readFileSync(join(outdir, 'Shop.template.json'), 'utf8')))

  it('has the service, whose functions it bundled, next to its own resources', () => {
    template.hasResourceProperties('AWS::Lambda::Function', { FunctionName: 'agent-tool-find-order' })
    template.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length + 1)
    expect(findResource(template, 'AWS::ApiGateway::RestApi').Properties.Name).toBe('shop-agents')
    for (const name of FUNCTION_NAMES)
      expect(existsSync(join(outdir, 'functions', name, 'index.mjs')), name).toBe(true)
  })

  it('sends every alarm to its topic, and has the URL as output', () => {
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'))
    expect(alarms.length).toBeGreaterThan(0)
    for (const { Properties } of alarms)
      expect(Properties.AlarmActions).toContainEqual({ Ref: expect.stringMatching(/^Pager/) })
    expect(JSON.stringify(template.findOutputs('AgentsUrl'))).toContain('.execute-api.')
  })
})
