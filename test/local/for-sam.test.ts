import { describe, expect, it } from 'vitest'
import { forSam, type Template } from '../../local/for-sam.ts'
import { findResources, synthesize } from '../infra/synthesize.ts'

const endpoints = { dynamodb: 'http://127.0.0.1:8000', sqs: 'http://127.0.0.1:9324' }

describe('forSam', () => {
  const template = synthesize({ responseStreaming: false })
  const changed = forSam(template.toJSON() as Template, endpoints, 'x64')
  const before = findResources(template, 'AWS::Lambda::Function')

  it('gives every function the emulators, and the queue to those that have one', () => {
    for (const [id, { Properties }] of Object.entries(before)) {
      const { Architectures, Environment } = changed.Resources[id]?.Properties ?? {}
      expect(Environment.Variables).toEqual({
        ...Properties.Environment.Variables,
        TABLE_NAME: 'agent-execution-service',
        DYNAMODB_ENDPOINT: endpoints.dynamodb,
        ...(Properties.Environment.Variables.QUEUE_URL && {
          QUEUE_URL: `${endpoints.sqs}/000000000000/agent-executions`,
          SQS_ENDPOINT: endpoints.sqs,
        }),
      })
      expect(Architectures).toEqual(['x86_64'])
    }
  })

  it('changes nothing else', () => {
    const { Resources, ...rest } = template.toJSON()
    const others = Object.entries(Resources).filter(([id]) => !(id in before))
    expect(others.length).toBeGreaterThan(50)
    expect(changed).toEqual({ ...rest, Resources: { ...changed.Resources, ...Object.fromEntries(others) } })
  })
})
