import {
  type IAuthorizer,
  type IResource,
  MockIntegration,
  PassthroughBehavior,
} from 'aws-cdk-lib/aws-apigateway'
import { MethodNotAllowed } from '../../lib/core/errors.ts'
import { toProblemResult } from '../../lib/http/problem-details.ts'

/** API Gateway selects the request template by the content type of the request; without a template it responds with 415. */
const CONTENT_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
]

/**
 * Responds with 405 to the methods that a path does not support, without invoking a function. ANY applies to the methods
 * that the resource does not define.
 * @param authorizer null for a public path
 */
export function addMethodNotAllowed(
  resource: IResource,
  { methods, authorizer }: { methods: string[]; authorizer: IAuthorizer | null },
): void {
  const { headers = {}, body } = toProblemResult(new MethodNotAllowed(methods), '$context.requestId')
  const toParameter = (name: string) => `method.response.header.${name}`
  const names = Object.keys(headers)
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(CONTENT_TYPES.map((type) => [type, '{"statusCode": 405}'])),
    integrationResponses: [
      {
        statusCode: '405',
        responseParameters: Object.fromEntries(
          names.map((name) => [toParameter(name), `'${headers[name]}'`]),
        ),
        responseTemplates: { 'application/json': body },
      },
    ],
  })
  resource.addMethod('ANY', integration, {
    ...(authorizer && { authorizer }),
    methodResponses: [
      {
        statusCode: '405',
        responseParameters: Object.fromEntries(names.map((name) => [toParameter(name), true])),
      },
    ],
  })
}
