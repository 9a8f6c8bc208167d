import type { Template } from 'aws-cdk-lib/assertions'
import { findResource, type Resource } from '../synthesize.ts'

/** An operation of the document. */
export type ApiOperation = {
  parameters?: { name: string; in: string }[]
  security?: object[]
  responses: Record<string, { headers?: Record<string, unknown> }>
  'x-amazon-apigateway-integration': Resource['Properties']
}

type ApiDefinition = {
  paths: Record<string, Record<string, ApiOperation>>
  components: { securitySchemes: { token: Resource['Properties'] } }
  'x-amazon-apigateway-gateway-responses': Record<string, Resource['Properties']>
}

/** The OpenAPI document from which API Gateway creates the API. */
export const readDefinition = (template: Template): ApiDefinition =>
  findResource(template, 'AWS::ApiGateway::RestApi').Properties.Body

/** The operations by "METHOD /path"; the method is ANY for those of all other methods. */
export function readOperations(template: Template): Map<string, ApiOperation> {
  const entries = Object.entries(readDefinition(template).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([key, operation]) => {
      const method = key === 'x-amazon-apigateway-any-method' ? 'ANY' : key.toUpperCase()
      return [`${method} ${path}`, operation] as const
    }),
  )
  return new Map(entries)
}

/** The integration of an operation. */
export const integrationOf = (operation: ApiOperation | undefined) =>
  operation?.['x-amazon-apigateway-integration'] ?? {}
