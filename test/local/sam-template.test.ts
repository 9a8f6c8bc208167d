import { describe, expect, it } from 'vitest'
import { type Template, toSamTemplate } from '../../local/sam-template.ts'
import { findResources, synthesize } from '../infra/synthesize.ts'

const endpoints = { dynamodb: 'http://127.0.0.1:8000', sqs: 'http://127.0.0.1:9324' }

describe('toSamTemplate', () => {
  const template = synthesize({ responseStreaming: false })
  const samTemplate = toSamTemplate(template.toJSON() as Template, endpoints, 'x64')
  const functions = findResources(template, 'AWS::Lambda::Function')

  it('sets the endpoints of the emulators in every function, that of the queue where it is used', () => {
    for (const [id, { Properties }] of Object.entries(functions)) {
      const { Architectures, Environment } = samTemplate.Resources[id]?.Properties ?? {}
      expect(Environment.Variables).toEqual({
        ...Properties.Environment.Variables,
        TABLE_NAME: 'agent-execution-service',
        DYNAMODB_ENDPOINT: endpoints.dynamodb,
        ...(Properties.Environment.Variables.QUEUE_URL && {
          QUEUE_URL: `${endpoints.sqs}/000000000000/agent-executions`,
          MODEL_QUEUE_URL: `${endpoints.sqs}/000000000000/agent-executions`,
          SQS_ENDPOINT: endpoints.sqs,
        }),
        ...(Properties.Environment.Variables.DELIVERY_QUEUE_URL && {
          DELIVERY_QUEUE_URL: `${endpoints.sqs}/000000000000/agent-executions-deliveries`,
          SQS_ENDPOINT: endpoints.sqs,
        }),
      })
      expect(Architectures).toEqual(['x86_64'])
    }
  })

  it('leaves all other resources unchanged', () => {
    const { Resources, ...rest } = template.toJSON()
    const others = Object.entries(Resources).filter(([id]) => !(id in functions))
    expect(others.length).toBeGreaterThan(50)
    expect(samTemplate).toEqual({
      ...rest,
      Resources: { ...samTemplate.Resources, ...Object.fromEntries(others) },
    })
  })
})
