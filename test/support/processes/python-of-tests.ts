import { beforeAll } from 'vitest'
import { installPython } from './python-environment.ts'

const INSTALL_MS = 300_000

/** Installs packages before the tests. @returns what has the path of the interpreter then */
export function pythonOfTests(requirements: URL): () => string {
  let python = ''
  beforeAll(async () => {
    python = (await installPython(requirements))('python')
  }, INSTALL_MS)
  return () => python
}
