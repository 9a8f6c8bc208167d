import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { appendCase } from '../authoring/cases/add-case.ts'
import { CASES_FILE, parseCases, type TestCase } from '../authoring/cases/case-file.ts'
import { folderError, UserError } from './errors.ts'

/** The `cases.yaml` of an agent, to which cases are added. */
export class CasesFile {
  readonly cases: TestCase[]
  private readonly path: string
  private readonly text: string

  private constructor(path: string, text: string) {
    const { cases, problems } = parseCases(text, path)
    if (problems.length > 0) throw folderError('Adding a case', problems)
    this.cases = cases
    this.path = path
    this.text = text
  }

  /** @throws UserError if the folder does not exist, or the file is invalid */
  static async open(folder: string): Promise<CasesFile> {
    if (!existsSync(folder))
      throw new UserError(`${folder} does not exist. Specify the agent's folder with --folder.`)
    const path = join(folder, CASES_FILE)
    return new CasesFile(path, existsSync(path) ? await readFile(path, 'utf8') : '')
  }

  /** The rest of the file stays as it is. @throws UserError if one of the cases cannot be added; then none is */
  async append(added: TestCase[]): Promise<void> {
    const after = added.reduce(appendCase, this.text)
    const { problems } = parseCases(after, this.path)
    if (problems.length > 0) throw folderError('Adding a case', problems)
    await writeFile(this.path, after)
  }
}
