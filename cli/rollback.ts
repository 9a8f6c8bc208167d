import {
  GetAliasCommand,
  LambdaClient,
  paginateListFunctions,
  paginateListVersionsByFunction,
  ResourceNotFoundException,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda'
import { program } from 'commander'
import { METRICS_NAMESPACE } from '../lib/environment.ts'
import { textTable } from './format.ts'

/** As `infra/functions/functions.ts` names it. */
const LIVE = 'live'

type Release = { version: string; modifiedAt: number }
/** Where an alias sends invocations: `canary` is the version that gets a part of them, if there is one. */
type Live = { live: string; canary: string | null }
export type ReleasedFunction = { name: string; versions: Release[] } & Live

/**
 * The version of each function that was live at a time: the last one from before it. Functions that no later release
 * has changed keep theirs, and so do functions that are newer than the time. A canary ends.
 */
export function planRollback(functions: ReleasedFunction[], before: number) {
  return functions.flatMap(({ name, live, canary, versions }) => {
    const earlier = versions.filter(({ modifiedAt }) => modifiedAt < before)
    const to = earlier.sort((a, b) => Number(a.version) - Number(b.version)).at(-1)?.version
    const from = to === live ? canary : live
    return to === undefined || from === null ? [] : [{ name, from, to }]
  })
}

/** The functions of a service that have an alias. Their variables name the service, however long its name is. */
async function readFunctions(client: LambdaClient, service: string): Promise<ReleasedFunction[]> {
  const found: ReleasedFunction[] = []
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    for (const { FunctionName: name = '', Environment } of Functions) {
      if (Environment?.Variables?.[METRICS_NAMESPACE] !== service) continue
      const live = await findLive(client, name)
      if (live) found.push({ name, ...live, versions: await readVersions(client, name) })
    }
  return found
}

const findLive = (client: LambdaClient, FunctionName: string): Promise<Live | null> =>
  client.send(new GetAliasCommand({ FunctionName, Name: LIVE })).then(
    ({ FunctionVersion: live = '', RoutingConfig }) => {
      const [canary = null] = Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {})
      return { live, canary }
    },
    (error: unknown) => {
      if (error instanceof ResourceNotFoundException) return null
      throw error
    },
  )

async function readVersions(client: LambdaClient, FunctionName: string): Promise<Release[]> {
  const releases: Release[] = []
  for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName }))
    for (const { Version: version = '', LastModified = '' } of Versions)
      if (version !== '$LATEST') releases.push({ version, modifiedAt: Date.parse(LastModified) })
  return releases
}

/** `npm run rollback`. Exit codes: 0 success, 1 nothing found or an error of AWS, 2 wrong usage. */
async function main(): Promise<void> {
  program
    .name('npm run rollback --')
    .description('Point the aliases of all functions of a stack to the versions that were live at a time.')
    .requiredOption('--stack <name>', 'the name of the stack, or of the service')
    .requiredOption('--before <time>', 'when the deployment to undo began, such as 2026-11-23T10:00:00Z')
    .option('--dry-run', 'only show what would change')
    .parse()
  const { stack, before, dryRun } = program.opts<{ stack: string; before: string; dryRun?: true }>()
  const time = Date.parse(before)
  if (Number.isNaN(time)) program.error(`--before is not a time: ${before}`, { exitCode: 2 })
  const client = new LambdaClient()
  const functions = await readFunctions(client, stack)
  if (functions.length === 0) program.error(`No function of ${stack} has the alias ${LIVE}.`)
  const changes = planRollback(functions, time)
  for (const { name, to } of dryRun ? [] : changes) {
    // Also ends a canary.
    const RoutingConfig = { AdditionalVersionWeights: {} }
    await client.send(
      new UpdateAliasCommand({ FunctionName: name, Name: LIVE, FunctionVersion: to, RoutingConfig }),
    )
  }
  if (changes.length > 0)
    console.log(
      textTable(
        ['function', 'from', 'to'],
        changes.map(({ name, from, to }) => [name, from, to]),
      ),
    )
  const verb = dryRun ? 'would change' : 'changed'
  console.log(`${changes.length} of ${functions.length} functions ${verb}.`)
}

if (import.meta.main) await main().catch((error: Error) => program.error(error.message))
