import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type TypedAgent, writeTypeScriptModule } from '../../lib/schema/types/agent-types.ts'
import type { CliCommand } from '../command.ts'
import { withConnection } from '../connect.ts'
import { UserError } from '../errors.ts'
import { orgOption } from '../options.ts'
import { readAll } from '../take.ts'

export function addTypesCommand(program: CliCommand): void {
  program
    .command('types')
    .description('Write the input and output types of all published agents, in TypeScript.')
    .option('--out <file>', 'file to write; default: standard output')
    .overHttp('read')
    .addOption(orgOption())
    .examples(
      'types --out src/agents.ts',
      'types --out src/agents.ts --url https://agents.example.com --token aes_…',
    )
    .run<{ url?: string; out?: string }>(async (options) => {
      const all = await withConnection(options, `read the agents of ${options.url}`, ({ client }) =>
        readAll(client.agents({ limit: 100 })),
      )
      // Others cannot be run by their slug.
      const agents = all.filter(({ currentVersionId }) => currentVersionId !== null) as TypedAgent[]
      const text = writeTypeScriptModule(agents)
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

function explainWriteError(file: string, { code, message }: NodeJS.ErrnoException): string {
  const folder = dirname(file)
  if (code === 'ENOENT' && !existsSync(folder)) return `the folder ${folder} does not exist.`
  return code === 'EISDIR' ? 'it is a folder.' : message
}
