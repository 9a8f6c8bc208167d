import type { CaseGroup } from './case-group.ts'
import { envelopes } from './envelopes.ts'
import { formsAndTables } from './forms-and-tables.ts'
import { names } from './names.ts'
import { values } from './values.ts'

export const realisticGroups: CaseGroup[] = [...names, ...envelopes, ...values, ...formsAndTables]
