-- Texts in which a speaker contradicts a fact, or talks as the other role; to look at.
SELECT method, source, text_id, contradiction, confusion, shifted, topical
FROM augesc.faults WHERE contradicted > 0 OR confused > 0 ORDER BY method, source, text_id
