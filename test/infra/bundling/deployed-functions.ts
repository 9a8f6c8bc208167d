import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { bundleFunctions } from '../../../infra/bundling/bundle.ts'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { type LambdaProcess, startLambda } from '../../support/lambda-process.ts'
import { HTTP_INTEGRATION, type Outcome } from '../../support/runtime-api.ts'
import { findFunctionResource, findResources, synthesize } from '../synthesize.ts'

type Options = {
  /** What the template's references to resources of a type stand for. */
  physical: Record<string, string>
  /** That the stack does not set. */
  extra: Record<string, string>
}

/**
 * Every function of the stack, from the bundle that would be deployed, with the environment that the template gives it,
 * in a process of its own that starts with its first event.
 */
export async function deployFunctions({ physical, extra }: Options) {
  const folder = mkdtempSync(join(tmpdir(), 'aes-runtime-'))
  const bundles = join(folder, 'bundles')
  await bundleFunctions(bundles)
  const template = synthesize()
  const processes = new Map<FunctionName, Promise<LambdaProcess>>()

  /** Logical ids by what they stand for here. */
  const values = new Map(
    Object.entries(physical).flatMap(([type, value]) =>
      Object.keys(findResources(template, type)).map((id) => [id, value]),
    ),
  )
  const resolved = (variable: string | { Ref: string }): string => {
    if (typeof variable === 'string') return variable
    const value = values.get(variable.Ref)
    if (value === undefined) throw new Error(`Nothing stands for ${JSON.stringify(variable)}.`)
    return value
  }

  const start = (name: FunctionName) => {
    // As on Lambda, nothing lies beside what a function was deployed with.
    const root = join(folder, name, 'task')
    cpSync(join(bundles, name), root, { recursive: true })
    const { Handler, Timeout, MemorySize, Environment } = findFunctionResource(
      template,
      'AWS::Lambda::Function',
      name,
    ).Properties
    const given = Object.entries<string | { Ref: string }>(Environment.Variables)
    return startLambda({
      name,
      folder: root,
      handler: Handler,
      timeoutSeconds: Timeout,
      memoryMb: MemorySize,
      environment: { ...Object.fromEntries(given.map(([key, value]) => [key, resolved(value)])), ...extra },
    })
  }

  const processOf = (name: FunctionName): Promise<LambdaProcess> => {
    const running = processes.get(name) ?? start(name)
    processes.set(name, running)
    return running
  }

  return {
    processOf,
    invoke: async (name: FunctionName, event: unknown) => (await processOf(name)).invoke(event),
    /** How each process that was started has ended. */
    stop: async (): Promise<Record<string, number | string>> => {
      const ends = await Promise.all(
        [...processes].map(async ([name, running]) => [name, await (await running).stop()]),
      )
      rmSync(folder, { recursive: true, force: true })
      return Object.fromEntries(ends)
    },
  }
}

/** What a function returned. @throws an Error with its message when it threw one, as the callers of a function see it */
export function returned(outcome: Outcome): ReturnType<typeof JSON.parse> {
  if (outcome.mode === 'failed') throw new Error(outcome.fault.errorMessage)
  if (outcome.mode === 'streamed') throw new Error('It streams.')
  return outcome.payload
}

/**
 * What API Gateway makes of an answer. Of one that is streamed it takes the status and the headers from the prelude.
 * @throws an Error when there is none
 */
export function httpResult(outcome: Outcome): APIGatewayProxyResult {
  if (outcome.mode !== 'streamed') return returned(outcome)
  const { contentType, prelude, body, fault } = outcome
  if (fault) throw new Error(`The stream broke off: ${fault.errorMessage}`)
  if (contentType !== HTTP_INTEGRATION || prelude === null)
    throw new Error(`A stream of ${contentType} without a prelude is no HTTP response.`)
  return { ...(prelude as Omit<APIGatewayProxyResult, 'body'>), body }
}
