import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { recordUse, toAccess, verifyToken } from '../lib/access/tokens.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { toAuthorizerContext } from '../lib/http/authorizer-context.ts'
import { system } from '../lib/system.ts'

const { tokens } = openStores()

/**
 * The Lambda authorizer of API Gateway. The policy covers the whole stage, because API Gateway caches it by token, not
 * by route. API Gateway responds with 401 only if the error message is exactly "Unauthorized".
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const now = system.now()
  const token = await verifyToken(tokens, event.authorizationToken, now)
  if (!token) throw new Error('Unauthorized')
  await recordUse(tokens, token, now)
  const stage = event.methodArn.split('/').slice(0, 2).join('/')
  return {
    principalId: token.id,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${stage}/*` }],
    },
    context: toAuthorizerContext(toAccess(token)),
  }
}
