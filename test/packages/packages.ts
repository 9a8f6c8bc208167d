import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Template } from 'aws-cdk-lib/assertions'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A new folder of a user, outside of the repository, with a space in its path. */
export function newProject(manifest: object = {}) {
  const parent = mkdtempSync(join(tmpdir(), 'aes-project-'))
  const folder = join(parent, 'my project')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'mine', version: '1.0.0', ...manifest }))
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }) }
}

/** The environment of a new shell, without what npm and tests have set, in which `node` is this one. */
export function shellWith(node: string = process.execPath): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(?!config_(registry|cache)).*|INIT_CWD|NODE_COMPILE_CACHE|DATA_DIR|PORT|\w+_ENDPOINT)$/i.test(
        name,
      ),
  )
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.startsWith(ROOT))
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...path].join(delimiter) } as Record<
    string,
    string
  >
}

export const readTemplate = (folder: string, stack: string): Template =>
  Template.fromJSON(JSON.parse(readFileSync(join(folder, `${stack}.template.json`), 'utf8')))
