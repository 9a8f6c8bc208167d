import type { LambdaClient } from '@aws-sdk/client-lambda'
import { isJsonObject, type Json } from '../core/json.ts'
import type { ToolResult } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { declarationOf, failed, succeeded, ToolError, type ToolGroup } from './tool.ts'
import type { LambdaDocument, ToolDocument } from './tool-document.ts'

/** Another Lambda than AWS's; absent on AWS. */
export const LAMBDA_ENDPOINT = 'LAMBDA_ENDPOINT'

type Params = { document: ToolDocument; lambda: LambdaDocument; environment: Environment }

/**
 * A tool that invokes a Lambda function and waits for it: its event is the input, its
 * `context.clientContext.custom.idempotencyKey` the key of the call.
 */
export function lambdaTool({ document, lambda, environment }: Params): ToolGroup {
  let client: Promise<LambdaClient> | undefined
  return {
    tools: [
      {
        declaration: declarationOf(document),
        timeoutSeconds: document.timeoutSeconds,
        async call(input, { idempotencyKey, signal }) {
          client ??= openClient(environment)
          const { InvokeCommand } = await import('@aws-sdk/client-lambda')
          const context = JSON.stringify({ custom: { idempotencyKey } })
          const command = new InvokeCommand({
            FunctionName: lambda.function,
            InvocationType: 'RequestResponse',
            Payload: JSON.stringify(input),
            ClientContext: Buffer.from(context).toString('base64'),
          })
          const answer = await (await client).send(command, { abortSignal: signal }).catch((error: Error) => {
            throw new ToolError(`The function could not be invoked: ${error.name}: ${error.message}`, {
              isTransient: true,
              cause: error,
            })
          })
          const payload = Buffer.from(answer.Payload ?? []).toString()
          return answer.FunctionError ? functionError(payload) : returned(payload)
        },
      },
    ],
    close: async () => (await client)?.destroy(),
  }
}

/** Without retries: the SDK's would run a function again that has done its work and lost the connection. */
async function openClient(environment: Environment): Promise<LambdaClient> {
  const { LambdaClient } = await import('@aws-sdk/client-lambda')
  const endpoint = environment[LAMBDA_ENDPOINT]
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const local = endpoint ? { endpoint, region: 'local', credentials } : {}
  return new LambdaClient({ maxAttempts: 1, ...local })
}

/** Its stack trace is left out: the model has no use for it. */
function functionError(payload: string): ToolResult {
  const parsed = parse(payload)
  if (!isJsonObject(parsed)) return failed(`The function failed: ${payload}`)
  return failed(`The function failed: ${parsed.errorType ?? 'Error'}: ${parsed.errorMessage ?? ''}`)
}

function returned(payload: string): ToolResult {
  if (payload === '') return succeeded(null)
  const value = parse(payload)
  return value === undefined ? failed(`The function returned no JSON: ${payload}`) : succeeded(value)
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
