import { nameCases } from './adapt-cases-of-names.ts'
import { schemaCases } from './adapt-cases-of-schemas.ts'
import { valueCases } from './adapt-cases-of-values.ts'

export const groups = [...nameCases, ...valueCases, ...schemaCases]
