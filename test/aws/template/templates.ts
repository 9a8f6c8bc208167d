import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPTION_SETS } from '../../infra/all-options.ts'
import { synthesize } from '../../infra/synthesize.ts'

/** Passes the templates of `OPTION_SETS` to `use`, as files. */
export async function withTemplates<T>(use: (paths: string[]) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-templates-'))
  try {
    const paths = Object.entries(OPTION_SETS).map(([name, context]) => {
      const path = join(folder, `${name.replaceAll(/\W+/g, '-')}.json`)
      // In lines: a finding quotes those of its resource.
      writeFileSync(path, JSON.stringify(synthesize(context).toJSON(), null, 1))
      return path
    })
    return await use(paths)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
