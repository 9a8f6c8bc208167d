import { type OperationName, operations } from '../../lib/api/routes.ts'
import type { Authorizer } from './authorize.ts'
import type { Handlers } from './gateway.ts'

/** The functions that Lambda would run, by the names that `routes.ts` gives them. */
export async function loadFunctions(): Promise<{
  handlers: Handlers
  authorizer: Authorizer
  sweep: () => Promise<void>
}> {
  const names = Object.keys(operations) as OperationName[]
  const entries = await Promise.all(
    names.map(async (name) => [name, (await import(`../../functions/${name}.ts`)).handler] as const),
  )
  return {
    handlers: Object.fromEntries(entries) as Handlers,
    authorizer: (await import('../../functions/authorize-request.ts')).handler,
    sweep: (await import('../../functions/sweep-executions.ts')).handler,
  }
}
