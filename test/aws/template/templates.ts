import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPTION_SETS } from '../../infra/all-options.ts'
import { synthesize } from '../../infra/synthesize.ts'

/** Passes templates of `OPTION_SETS` to `use`, as files: those with the defaults and with every option, or all. */
export async function withTemplates<T>(all: boolean, use: (paths: string[]) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-templates-'))
  try {
    const paths = Object.entries(OPTION_SETS)
      .slice(0, all ? undefined : 2)
      .map(([name, context]) => {
        const path = join(folder, `${name.replaceAll(/\W+/g, '-')}.json`)
        writeFileSync(path, print(synthesize(context).toJSON()))
        return path
      })
    return await use(paths)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A line for each resource: a finding quotes it. Indented, the largest template exceeds the size of CloudFormation. */
function print({ Resources, ...others }: Record<string, object>): string {
  const resources = Object.entries(Resources ?? {}).map((entry) =>
    entry.map((part) => JSON.stringify(part)).join(':'),
  )
  return `${JSON.stringify(others).slice(0, -1)},"Resources":{\n${resources.join(',\n')}\n}}`
}
