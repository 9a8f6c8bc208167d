import { App } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { readSettings, SETTINGS } from '../../infra/settings.ts'
import { ACCEPTED_FINDINGS } from '../aws/template/accepted-findings.ts'
import { compareFindings } from '../aws/template/check-template.ts'
import { OPTION_SETS } from './all-options.ts'
import { synthesize } from './synthesize.ts'

const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]
const sets = Object.entries(OPTION_SETS)
const valuesOf = (set: Record<string, unknown>) => readSettings(new App({ context: set }).node)
const defaults = valuesOf({})

/** The maximum of CloudFormation. */
const MAX_RESOURCES = 500

describe('OPTION_SETS', () => {
  it.each(names)('have %s with another value than its default', (name) => {
    const changed = sets.filter(([, set]) => valuesOf(set)[name] !== defaults[name])
    expect(changed.length, name).toBeGreaterThan(0)
  })

  it.each(sets)('fit into a stack: %s', (_, set) => {
    expect(Object.keys(synthesize(set).toJSON().Resources).length).toBeLessThan(MAX_RESOURCES)
  })
})

describe('compareFindings', () => {
  const finding = { template: 'default', id: 'CKV_1', name: 'A check', resource: 'AWS::S3::Bucket.Files' }
  const accepted = { id: 'CKV_1', resources: /^AWS::S3::Bucket\./, reason: 'It is accepted.' }

  it.each([
    ['nothing that is accepted', [finding], [accepted], []],
    ['what is not accepted', [finding], [], ['default: CKV_1 A check: AWS::S3::Bucket.Files']],
    [
      'what is accepted on other resources, and not found there',
      [finding],
      [{ ...accepted, resources: /^AWS::SQS::/ }],
      [
        'default: CKV_1 A check: AWS::S3::Bucket.Files',
        'CKV_1 is accepted on /^AWS::SQS::/, and not found on any.',
      ],
    ],
  ])('reports %s', (_, findings, list, problems) => {
    expect(compareFindings(findings, list)).toEqual(problems)
  })

  it.each(ACCEPTED_FINDINGS)('has a reason to accept $id', ({ reason }) => {
    expect(reason).toMatch(/^[A-Z].{40,}\.$/)
  })
})
