import type { LambdaClient } from '@aws-sdk/client-lambda'
import { isJsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import type { ToolResult } from '../../core/model.ts'
import type { Environment } from '../../environment.ts'
import type { LambdaDocument, ToolDocument } from '../document/tool-fields.ts'
import { failed, succeeded, ToolError, type ToolGroup, toDeclaration, toSentKey } from '../tool.ts'

/** Endpoint of a Lambda emulator; not set on AWS. */
const LAMBDA_ENDPOINT = 'LAMBDA_ENDPOINT'

type Params = { document: ToolDocument; lambda: LambdaDocument; environment: Environment }

/**
 * A tool that invokes a Lambda function synchronously. The input is the event, and `context.clientContext.custom` has
 * the `idempotencyKey` and the `traceparent` of the call.
 */
export function openLambdaTool({ document, lambda, environment }: Params): ToolGroup {
  const { invoke, close } = openFunction(lambda.function, environment)
  return {
    tools: [
      {
        declaration: toDeclaration(document),
        timeoutSeconds: document.timeoutSeconds,
        async call(input, { idempotencyKey, traceparent, signal }) {
          const custom = { idempotencyKey: toSentKey(idempotencyKey), traceparent }
          const { payload, hasFailed } = await invoke(JSON.stringify(input), custom, signal)
          return hasFailed ? failed(describeFailure(payload)) : toResult(payload)
        },
      },
    ],
    close,
  }
}

/** What a tool and a remote agent invoke. `hasFailed`: the function threw; the payload says what. */
export function openFunction(name: string, environment: Environment) {
  let client: Promise<LambdaClient> | undefined
  return {
    /** @throws ToolError if the function could not be invoked */
    async invoke(event: string, custom: object, signal: AbortSignal) {
      client ??= openClient(environment)
      const { InvokeCommand } = await import('@aws-sdk/client-lambda')
      const command = new InvokeCommand({
        FunctionName: name,
        InvocationType: 'RequestResponse',
        Payload: event,
        ClientContext: Buffer.from(JSON.stringify({ custom })).toString('base64'),
      })
      const response = await (await client).send(command, { abortSignal: signal }).catch((error: Error) => {
        throw new ToolError(`Could not invoke the function: ${error.name}: ${error.message}`, {
          isTransient: true,
          cause: error,
        })
      })
      const payload = Buffer.from(response.Payload ?? []).toString()
      return { payload, hasFailed: response.FunctionError !== undefined }
    },

    close: async () => (await client)?.destroy(),
  }
}

/** Without retries: if a response is lost, the SDK would invoke the function again. */
async function openClient(environment: Environment): Promise<LambdaClient> {
  const { LambdaClient } = await import('@aws-sdk/client-lambda')
  const endpoint = environment[LAMBDA_ENDPOINT]
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const local = endpoint ? { endpoint, region: 'local', credentials } : {}
  return new LambdaClient({ maxAttempts: 1, ...local })
}

/** Omits the stack trace, which is of no use to the model. */
export function describeFailure(payload: string): string {
  const error = parsePartnerJson(payload)
  if (!isJsonObject(error)) return `The function failed: ${payload}`
  return `The function failed: ${error.errorType ?? 'Error'}: ${error.errorMessage ?? ''}`
}

function toResult(payload: string): ToolResult {
  if (payload === '') return succeeded(null)
  const value = parsePartnerJson(payload)
  return value === undefined ? failed(`The function returned invalid JSON: ${payload}`) : succeeded(value)
}
