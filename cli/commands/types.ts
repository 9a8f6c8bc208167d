import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { toAgentRecord } from '../../lib/contract/records/agent.ts'
import {
  type TypedAgent,
  writePythonModule,
  writeTypeScriptModule,
} from '../../lib/schema/types/agent-types.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { readAllPages, withOrganization } from '../find.ts'
import { orgOption } from '../options.ts'
import {
  callService,
  getRemote,
  type Remote,
  type RemoteOptions,
  readAll,
  tokenOption,
  urlOption,
} from '../remote.ts'

type Options = RemoteOptions & { out?: string; python?: true }

export function addTypesCommand(program: CliCommand): void {
  program
    .command('types')
    .description('Write the input and output types of all published agents, in TypeScript or Python.')
    .option('--out <file>', 'file to write; default: standard output')
    .option('--python', 'write a TypedDict for each type')
    .addOption(urlOption('read agents over HTTP from'))
    .addOption(tokenOption('read'))
    .addOption(orgOption())
    .examples(
      'types --out src/agents.ts',
      'types --python --out agent_types.py',
      'types --out src/agents.ts --url https://agents.example.com --token aes_…',
    )
    .run<Options>(async (options) => {
      const agents = await readAgents(options)
      const text = (options.python ? writePythonModule : writeTypeScriptModule)(agents)
      const slugs = agents.map(({ slug }) => slug).sort()
      const { out } = options
      if (out === undefined) return { json: { agents: slugs, text }, text: text.trimEnd() }
      await writeFile(out, text).catch((error: NodeJS.ErrnoException) => {
        throw new UserError(`Cannot write ${out}: ${explainWriteError(out, error)}`)
      })
      const count = slugs.length === 1 ? '1 agent' : `${slugs.length} agents`
      return { json: { agents: slugs, file: out }, text: `Wrote the types of ${count} to ${out}.` }
    })
}

/** Agents with a published version: others cannot be run by their slug. */
async function readAgents(options: Options): Promise<TypedAgent[]> {
  const remote = getRemote(options)
  const agents = remote ? await readRemote(remote) : await readStored(options)
  return agents.filter(({ currentVersionId }) => currentVersionId !== null)
}

type ListedAgent = TypedAgent & { currentVersionId: string | null }

const readStored = (options: Options): Promise<ListedAgent[]> =>
  withOrganization(options, async (stores, { id: organizationId }) => {
    const agents = await readAllPages((page) => stores.agents.list({ organizationId, ...page }))
    return agents.map(toAgentRecord)
  })

const readRemote = (remote: Remote): Promise<ListedAgent[]> =>
  callService(remote, `read the agents of ${remote.url}`, (client) => readAll(client.agents({ limit: 100 })))

function explainWriteError(file: string, { code, message }: NodeJS.ErrnoException): string {
  const folder = dirname(file)
  if (code === 'ENOENT' && !existsSync(folder)) return `the folder ${folder} does not exist.`
  return code === 'EISDIR' ? 'it is a folder.' : message
}
