import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { OPTION_SETS } from '../all-options.ts'
import { findResource, findResources, synthesize } from '../synthesize.ts'
import { integrationOf, readDefinition, readOperations } from './read-definition.ts'

const template = synthesize(OPTION_SETS['every option'])

/** The document with a text in place of each value that is known only during deployment. */
const resolve = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part) =>
    part?.['Fn::Join']
      ? part['Fn::Join'][1].map((each: unknown) => (typeof each === 'string' ? each : 'X')).join('')
      : part,
  )

describe('the document that defines the API', () => {
  it('is valid OpenAPI 3.0', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(
      resolve(readDefinition(template)) as Record<string, unknown>,
    )
    expect(errors).toBeUndefined()
    expect([valid, validator.version]).toEqual([true, '3.0'])
  })

  it('declares the parameters of the path with every operation', () => {
    for (const [name, { parameters = [] }] of readOperations(template)) {
      const expected = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      expect(
        parameters.map((parameter) => parameter.name),
        name,
      ).toEqual(expected)
    }
  })

  it('contains only texts and joined texts: no value that CloudFormation or Velocity would replace', () => {
    const text = JSON.stringify(resolve(readDefinition(template)))
    expect(text).not.toMatch(/"(?:Fn::|Ref)|\$\{/)
  })

  it('is deployed anew when it changes, and only then', () => {
    const deploymentOf = (context: Record<string, unknown>) =>
      Object.keys(findResources(synthesize(context), 'AWS::ApiGateway::Deployment'))
    expect(deploymentOf({ throttlingRate: 7 })).toEqual(deploymentOf({}))
    expect(deploymentOf(OPTION_SETS['other values'])).not.toEqual(deploymentOf(OPTION_SETS['every option']))
  })

  it('is deployed when its functions may be invoked', () => {
    const { DependsOn } = findResource(template, 'AWS::ApiGateway::Deployment')
    const permissions = Object.entries(findResources(template, 'AWS::Lambda::Permission'))
      .filter(([, { Properties }]) => Properties.Principal === 'apigateway.amazonaws.com')
      .map(([id]) => id)
    expect(permissions.length).toBeGreaterThan(20)
    expect(DependsOn).toEqual(expect.arrayContaining(permissions))
  })
})

describe('the response to a preflight request', () => {
  const preflightOf = (context: Record<string, unknown>) =>
    integrationOf(readOperations(synthesize(context)).get('OPTIONS /v1/agents')).responses.default

  it('allows all origins', () => {
    const { responseParameters, responseTemplates } = preflightOf(OPTION_SETS['other values'])
    expect(responseParameters['method.response.header.Access-Control-Allow-Origin']).toBe("'*'")
    expect(responseTemplates).toBeUndefined()
  })

  it('replaces the first origin by any other one that the request has', () => {
    const { responseParameters, responseTemplates } = preflightOf(OPTION_SETS['every option'])
    expect(responseParameters).toMatchObject({
      'method.response.header.Access-Control-Allow-Origin': "'https://app.example.com'",
      'method.response.header.Vary': "'Origin'",
    })
    expect(responseTemplates['application/json']).toContain('#if($origin == "https://b.example.com")')
  })
})
