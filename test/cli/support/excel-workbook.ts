import { crc32, deflateRawSync } from 'node:zlib';

/**
 * A workbook with the features of Excel's files: sheets before the shared strings, rich text, inline strings, formulas with
 * their last value, dates as days of the 1904 system, empty cells left out, a merged title, and a hidden first sheet.
 */
export function excelWorkbook(packed: Readonly<Record<string, string>> = {}): Buffer {
  return makeZip(
    {
      '[Content_Types].xml': `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${OFFICE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${OFFICE}.worksheet+xml"/><Override PartName="/xl/worksheets/sheet2.xml" ContentType="${OFFICE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${OFFICE}.styles+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="${OFFICE}.sharedStrings+xml"/></Types>`,
      '_rels/.rels': relationships({ rId1: ['officeDocument', 'xl/workbook.xml'] }),
      'xl/workbook.xml': `${XML}<workbook ${MAIN} xmlns:r="${RELATIONSHIPS}"><workbookPr date1904="1"/><sheets><sheet name="Note" sheetId="1" state="hidden" r:id="rId1"/><sheet name="Dipendenti" sheetId="2" r:id="rId2"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relationships({
        rId1: ['worksheet', 'worksheets/sheet1.xml'],
        rId2: ['worksheet', 'worksheets/sheet2.xml'],
        rId3: ['styles', 'styles.xml'],
        rId4: ['sharedStrings', 'sharedStrings.xml'],
      }),
      'xl/worksheets/sheet1.xml': sheet('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'),
      'xl/worksheets/sheet2.xml': sheet(
        [
          '<row r="1"><c r="A1" t="s"><v>0</v></c></row>',
          `<row r="3">${['A', 'B', 'C', 'D', 'E', 'F'].map((column, at) => `<c r="${column}3" t="s"><v>${at + 1}</v></c>`).join('')}</row>`,
          // 27,790 days after 1 January 1904 is 1 February 1980.
          '<row r="4"><c r="A4" t="str"><f>UPPER("rossi")</f><v>ROSSI</v></c><c r="B4" t="s"><v>7</v></c><c r="C4" t="inlineStr"><is><t>M</t></is></c><c r="D4" s="1"><v>27790</v></c><c r="E4" t="s"><v>8</v></c></row>',
          '<row r="6"><c r="A6" t="inlineStr"><is><t>Bianchi</t></is></c><c r="B6" t="inlineStr"><is><t>Anna</t></is></c><c r="C6" t="inlineStr"><is><t>F</t></is></c><c r="D6" s="1"><f>DATE(1975,12,31)</f><v>26297</v></c><c r="E6" t="inlineStr"><is><t>Milano</t></is></c><c r="F6" t="inlineStr"><is><t>MI</t></is></c></row>',
        ].join(''),
        '<mergeCells count="1"><mergeCell ref="A1:F1"/></mergeCells>',
      ),
      'xl/styles.xml': `${XML}<styleSheet ${MAIN}><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
      'xl/sharedStrings.xml': `${XML}<sst ${MAIN} count="9" uniqueCount="9">${['Elenco', 'Cognome', 'Nome', 'Sesso', 'Data di nascita', 'Comune di nascita', 'Prov.'].map((text) => `<si><t>${text}</t></si>`).join('')}<si><r><t>Ma</t></r><r><rPr><b/></rPr><t>rio</t></r></si><si><t>Roma</t></si></sst>`,
    },
    packed,
  );
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n';
const OFFICE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function sheet(rows: string, after = ''): string {
  return `${XML}<worksheet ${MAIN}><sheetData>${rows}</sheetData>${after}</worksheet>`;
}

function relationships(targets: Readonly<Record<string, readonly [type: string, target: string]>>): string {
  const all = Object.entries(targets).map(
    ([id, [type, target]]) => `<Relationship Id="${id}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
  );
  return `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join('')}</Relationships>`;
}

type Files = Readonly<Record<string, string>>;

/** Makes a ZIP archive. Only the second files are compressed. */
function makeZip(stored: Files, packed: Files): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries({ ...stored, ...packed })) {
    const [path, plain] = [Buffer.from(name), Buffer.from(text)];
    const isPacked = Object.hasOwn(packed, name);
    const data = isPacked ? deflateRawSync(plain) : plain;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(isPacked ? 8 : 0, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(plain.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, path, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, tail, path]));
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}
